// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {MintableToken} from "./MintableToken.sol";

/// Stands in for Tether USD on Ethereum: its functions return nothing, and an allowance is only changed from or to zero.
contract TestUSDT is MintableToken {
    function name() public pure override returns (string memory) {
        return "Tether USD";
    }

    function symbol() public pure override returns (string memory) {
        return "USDT";
    }

    function transfer(address to, uint256 value) external {
        _move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        _spend(from, value);
        _move(from, to, value);
    }

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0, "set the allowance to zero first");
        _approve(msg.sender, spender, value);
    }
}
