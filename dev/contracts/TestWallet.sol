// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// A contract wallet (ERC-1271) for tests, which also behaves in the ways that a hostile one can. An account that delegates to it
/// (EIP-7702) is its own owner. TEST ONLY: anybody can change the mode and let it call.
contract TestWallet {
    enum Mode {
        CheckOwner,
        Refuse,
        OtherAnswer,
        Revert,
        BurnGas,
        ShortAnswer,
        InvalidOpcode
    }

    address private immutable storedOwner;
    Mode public mode;

    constructor(address owner_) {
        storedOwner = owner_;
    }

    /// An account that delegates has another address than the code was created at.
    address private immutable self = address(this);

    function owner() public view returns (address) {
        return address(this) == self ? storedOwner : address(this);
    }

    function setMode(Mode mode_) external {
        mode = mode_;
    }

    function execute(address target, bytes calldata data) external {
        (bool success, bytes memory result) = target.call(data);
        if (success) return;
        assembly {
            revert(add(result, 0x20), mload(result))
        }
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (mode == Mode.Refuse) return 0xffffffff;
        if (mode == Mode.OtherAnswer) return 0x12345678;
        if (mode == Mode.Revert) revert("the wallet refuses");
        if (mode == Mode.BurnGas) {
            uint256 i = 0;
            while (true) i++;
        }
        if (mode == Mode.ShortAnswer) {
            assembly {
                mstore(0, shl(224, 0x1626ba7e))
                return(0, 4)
            }
        }
        if (mode == Mode.InvalidOpcode) {
            assembly {
                invalid()
            }
        }
        return _isOwner(hash, signature) ? this.isValidSignature.selector : bytes4(0xffffffff);
    }

    function _isOwner(bytes32 hash, bytes calldata signature) private view returns (bool) {
        if (signature.length != 65) return false;
        (bytes32 r, bytes32 s) = abi.decode(signature[:64], (bytes32, bytes32));
        address signer = ecrecover(hash, uint8(signature[64]), r, s);
        return signer != address(0) && signer == owner();
    }
}
