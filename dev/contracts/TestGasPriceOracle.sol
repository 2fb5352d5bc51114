// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Answers at the address of the OP Stack's GasPriceOracle predeploy. The local chain charges no L1 fee; a small constant
/// lets the gateway's bound be exercised.
contract TestGasPriceOracle {
    uint256 public constant L1_FEE = 1_000_000_000;

    function getL1Fee(bytes calldata) external pure returns (uint256) {
        return L1_FEE;
    }

    function getL1FeeUpperBound(uint256) external pure returns (uint256) {
        return L1_FEE;
    }
}
