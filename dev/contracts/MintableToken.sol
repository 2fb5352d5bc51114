// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Balances and allowances that the test tokens share; each adds the transfer functions its original has.
/// TEST ONLY: anybody can mint.
abstract contract MintableToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    /// Functions and not fields: the code alone, set at any address, is the whole token.
    function name() public pure virtual returns (string memory);

    function symbol() public pure virtual returns (string memory);

    function decimals() public pure virtual returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function _move(address from, address to, uint256 value) internal virtual {
        require(to != address(0), "transfer to the zero address");
        require(balanceOf[from] >= value, "transfer amount exceeds balance");
        unchecked {
            balanceOf[from] -= value;
        }
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    function _spend(address owner, uint256 value) internal {
        uint256 allowed = allowance[owner][msg.sender];
        require(allowed >= value, "transfer amount exceeds allowance");
        if (allowed != type(uint256).max) allowance[owner][msg.sender] = allowed - value;
    }

    function _approve(address owner, address spender, uint256 value) internal virtual {
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }
}

/// The ERC-20 functions as the standard has them, with a boolean result.
abstract contract StandardToken is MintableToken {
    function transfer(address to, uint256 value) external virtual returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external virtual returns (bool) {
        _spend(from, value);
        _move(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        _approve(msg.sender, spender, value);
        return true;
    }
}
