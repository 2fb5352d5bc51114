// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {MintableToken} from "./MintableToken.sol";

/// Keeps 1 % of every transfer as a fee: the recipient gets less than was sent, in two Transfer events.
contract FeeOnTransferToken is MintableToken {
    address public constant collector = address(0xfee);

    constructor() MintableToken("Fee On Transfer", "FEE", 6) {}

    function transfer(address to, uint256 value) external returns (bool) {
        uint256 fee = value / 100;
        _move(msg.sender, collector, fee);
        _move(msg.sender, to, value - fee);
        return true;
    }
}

/// Every transfer reverts.
contract RevertingToken is MintableToken {
    constructor() MintableToken("Reverting", "RVT", 6) {}

    function transfer(address, uint256) external pure returns (bool) {
        revert("this token cannot be transferred");
    }
}

/// Transfers nothing and returns false: the transaction succeeds, without an event.
contract FalseReturningToken is MintableToken {
    constructor() MintableToken("False Returning", "FLS", 6) {}

    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }
}
