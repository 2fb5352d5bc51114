import { parseAbi } from 'viem';
import type { Hex } from '../../types';

/** Uniswap's Permit2 and the x402 proxies in front of it; the same addresses on every chain. EIP-55. */
export const permit2Address: Hex = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
export const exactProxyAddress: Hex = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001';
export const uptoProxyAddress: Hex = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002';

/** Multicall3, which makes several calls in one transaction for anybody; the same address on every chain. EIP-55. */
export const multicall3Address: Hex = '0xcA11bde05977b3631167028862bE2a173976CA11';

export const multicall3Abi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
]);

/** EIP-3009 with both forms of a signature, as FiatToken 2.2 has them, and what is asked when a transfer would fail. */
export const eip3009Abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function name() view returns (string)',
  'function version() view returns (string)',
]);

const structs = [
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
] as const;

export const exactProxyAbi = parseAbi([
  ...structs,
  'struct Witness { address to; uint256 validAfter; }',
  'function PERMIT2() view returns (address)',
  'function settle(PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
]);

export const uptoProxyAbi = parseAbi([
  ...structs,
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'function PERMIT2() view returns (address)',
  'function settle(PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature)',
]);
