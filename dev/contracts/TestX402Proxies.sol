// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {TestPermit2} from "./TestPermit2.sol";

interface IPermitToken {
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;
}

/// Stand-ins for the x402 proxies on local chains, at their addresses: same functions, witnesses, errors and events. The payer's
/// permit names a proxy as its only spender, and the proxy pays nobody but the recipient in the witness. Written from the published
/// interface; not compared with the deployed code.
abstract contract TestProxy {
    struct EIP2612Permit {
        uint256 value;
        uint256 deadline;
        bytes32 r;
        bytes32 s;
        uint8 v;
    }

    error InvalidAmount();
    error InvalidOwner();
    error InvalidDestination();
    error PaymentTooEarly();
    error Permit2612AmountMismatch();

    event Settled();
    event SettledWithPermit();
    event EIP2612PermitFailedWithReason(address indexed token, address indexed owner, string reason);
    event EIP2612PermitFailedWithPanic(address indexed token, address indexed owner, uint256 errorCode);
    event EIP2612PermitFailedWithData(address indexed token, address indexed owner, bytes data);

    TestPermit2 public constant PERMIT2 = TestPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    struct Recipient {
        address to;
        uint256 validAfter;
        bytes32 witness;
    }

    function _pay(
        TestPermit2.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Recipient memory recipient,
        string memory witnessTypeString,
        bytes calldata signature
    ) internal {
        if (amount == 0 && !_takesNothing()) revert InvalidAmount();
        if (owner == address(0)) revert InvalidOwner();
        if (recipient.to == address(0)) revert InvalidDestination();
        if (block.timestamp < recipient.validAfter) revert PaymentTooEarly();
        TestPermit2.SignatureTransferDetails memory details = TestPermit2.SignatureTransferDetails(recipient.to, amount);
        PERMIT2.permitWitnessTransferFrom(permit, details, owner, recipient.witness, witnessTypeString, signature);
    }

    function _takesNothing() internal pure virtual returns (bool) {
        return false;
    }

    /// A permit that fails is not an error: the allowance may be there already, for example because somebody else has used the permit.
    function _setAllowance(
        EIP2612Permit calldata permit2612,
        TestPermit2.PermitTransferFrom calldata permit,
        address owner
    ) internal {
        address token = permit.permitted.token;
        if (permit2612.value != permit.permitted.amount) revert Permit2612AmountMismatch();
        try IPermitToken(token).permit(
            owner, address(PERMIT2), permit2612.value, permit2612.deadline, permit2612.v, permit2612.r, permit2612.s
        ) {} catch Error(string memory reason) {
            emit EIP2612PermitFailedWithReason(token, owner, reason);
        } catch Panic(uint256 errorCode) {
            emit EIP2612PermitFailedWithPanic(token, owner, errorCode);
        } catch (bytes memory data) {
            emit EIP2612PermitFailedWithData(token, owner, data);
        }
    }
}

/// Pays the whole permitted amount.
contract TestExactProxy is TestProxy {
    struct Witness {
        address to;
        uint256 validAfter;
    }

    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";
    bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,uint256 validAfter)");

    function settle(
        TestPermit2.PermitTransferFrom calldata permit, address owner, Witness calldata witness, bytes calldata signature
    ) external {
        _payAll(permit, owner, witness, signature);
        emit Settled();
    }

    function settleWithPermit(
        EIP2612Permit calldata permit2612, TestPermit2.PermitTransferFrom calldata permit, address owner,
        Witness calldata witness, bytes calldata signature
    ) external {
        _setAllowance(permit2612, permit, owner);
        _payAll(permit, owner, witness, signature);
        emit SettledWithPermit();
    }

    function _payAll(
        TestPermit2.PermitTransferFrom calldata permit, address owner, Witness calldata witness, bytes calldata signature
    ) private {
        bytes32 hash = keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.validAfter));
        Recipient memory recipient = Recipient(witness.to, witness.validAfter, hash);
        _pay(permit, permit.permitted.amount, owner, recipient, WITNESS_TYPE_STRING, signature);
    }
}

/// Pays at most the permitted amount, for the facilitator in the witness alone.
contract TestUptoProxy is TestProxy {
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    error AmountExceedsPermitted();
    error UnauthorizedFacilitator();

    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";
    bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,address facilitator,uint256 validAfter)");

    function settle(
        TestPermit2.PermitTransferFrom calldata permit, uint256 amount, address owner, Witness calldata witness,
        bytes calldata signature
    ) external {
        _check(permit, amount, witness);
        _payPart(permit, amount, owner, witness, signature);
        emit Settled();
    }

    function settleWithPermit(
        EIP2612Permit calldata permit2612, TestPermit2.PermitTransferFrom calldata permit, uint256 amount, address owner,
        Witness calldata witness, bytes calldata signature
    ) external {
        _check(permit, amount, witness);
        _setAllowance(permit2612, permit, owner);
        _payPart(permit, amount, owner, witness, signature);
        emit SettledWithPermit();
    }

    function _check(TestPermit2.PermitTransferFrom calldata permit, uint256 amount, Witness calldata witness) private view {
        if (amount > permit.permitted.amount) revert AmountExceedsPermitted();
        if (msg.sender != witness.facilitator) revert UnauthorizedFacilitator();
    }

    function _payPart(
        TestPermit2.PermitTransferFrom calldata permit, uint256 amount, address owner, Witness calldata witness,
        bytes calldata signature
    ) private {
        bytes32 hash = keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.facilitator, witness.validAfter));
        _pay(permit, amount, owner, Recipient(witness.to, witness.validAfter, hash), WITNESS_TYPE_STRING, signature);
    }
}

/// As no deployed proxy does: a payment is used up for an amount of 0 as well.
contract OddUptoProxy is TestUptoProxy {
    function _takesNothing() internal pure override returns (bool) {
        return true;
    }
}
