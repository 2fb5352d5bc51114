// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// A contract wallet (ERC-1271) of one owner, which is its key.
contract TestCreatedWallet {
    address private immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        (bytes32 r, bytes32 s) = abi.decode(signature[:64], (bytes32, bytes32));
        address signer = ecrecover(hash, uint8(signature[64]), r, s);
        return signer != address(0) && signer == owner ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// Creates wallets at addresses that are known before (EIP-1014), as the factories that ERC-6492 is made for.
contract TestWalletFactory {
    /// Of a wallet that exists nothing is changed, as ERC-4337 wants it.
    function create(address owner, bytes32 salt) external returns (address) {
        address wallet = _addressOf(owner, salt);
        return wallet.code.length > 0 ? wallet : address(new TestCreatedWallet{salt: salt}(owner));
    }

    /// A wallet that exists is not created again.
    function createOnce(address owner, bytes32 salt) external returns (address) {
        require(_addressOf(owner, salt).code.length == 0, "the wallet exists");
        return address(new TestCreatedWallet{salt: salt}(owner));
    }

    /// The same, and all gas is used up by it, as of a factory that does not look before.
    function createBlindly(address owner, bytes32 salt) external returns (address) {
        return address(new TestCreatedWallet{salt: salt}(owner));
    }

    function _addressOf(address owner, bytes32 salt) private view returns (address) {
        bytes memory code = abi.encodePacked(type(TestCreatedWallet).creationCode, abi.encode(owner));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, keccak256(code))))));
    }
}
