import { parseAbi } from 'viem';
import type { Hex } from '../../types';

/** Contract wallets (ERC-1271). */
export const walletAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);

const validSignature = '0x1626ba7e';

/** Whether a wallet has said that a signature is its own. */
export const isValidSignatureAnswer = (result: Hex): boolean => result.length >= 66 && result.startsWith(validSignature);
