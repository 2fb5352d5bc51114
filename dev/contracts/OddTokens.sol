// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {MintableToken} from "./MintableToken.sol";
import {TestUSDC} from "./TestUSDC.sol";

/// Keeps 1 % of every transfer as a fee: the recipient gets less than was sent, in two Transfer events.
contract FeeOnTransferToken is MintableToken {
    address public constant collector = address(0xfee);

    function name() public pure override returns (string memory) {
        return "Fee On Transfer";
    }

    function symbol() public pure override returns (string memory) {
        return "FEE";
    }

    function transfer(address to, uint256 value) external returns (bool) {
        uint256 fee = value / 100;
        _move(msg.sender, collector, fee);
        _move(msg.sender, to, value - fee);
        return true;
    }
}

/// Every transfer reverts.
contract RevertingToken is MintableToken {
    function name() public pure override returns (string memory) {
        return "Reverting";
    }

    function symbol() public pure override returns (string memory) {
        return "RVT";
    }

    function transfer(address, uint256) external pure returns (bool) {
        revert("this token cannot be transferred");
    }
}

/// Transfers nothing and returns false: the transaction succeeds, without an event.
contract FalseReturningToken is MintableToken {
    function name() public pure override returns (string memory) {
        return "False Returning";
    }

    function symbol() public pure override returns (string memory) {
        return "FLS";
    }

    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }
}

/// Takes authorisations, and keeps 1 % of every transfer: the recipient gets less than was signed, in two Transfer events.
contract KeepingUSDC is TestUSDC {
    address public constant collector = address(0xfee);

    function _move(address from, address to, uint256 value) internal override {
        uint256 fee = value / 100;
        super._move(from, collector, fee);
        super._move(from, to, value - fee);
    }
}

/// Takes authorisations, uses them up and moves nothing: the transaction succeeds, without a Transfer event.
contract SilentUSDC is TestUSDC {
    function _move(address, address, uint256) internal override {}
}
