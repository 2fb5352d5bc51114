// The official facilitator of EVM, in a process of its own as the gateway's API is.
// Environment: RPC_URL, and either PRIVATE_KEY (settles) or ADDRESS (only verifies).
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { UptoEvmScheme } from '@x402/evm/upto/facilitator';
import { createWalletClient, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { serve } from './serve-facilitator.mjs';

const { RPC_URL, PRIVATE_KEY, ADDRESS } = process.env;
const account = PRIVATE_KEY ? privateKeyToAccount(PRIVATE_KEY) : ADDRESS;
const client = createWalletClient({ account, transport: http(RPC_URL) }).extend(publicActions);
const signer = toFacilitatorEvmSigner({ ...client, address: PRIVATE_KEY ? account.address : ADDRESS });
const facilitator = new x402Facilitator()
  .register('eip155:8453', new ExactEvmScheme(signer))
  .register('eip155:8453', new UptoEvmScheme(signer));

serve(facilitator, ['verify', 'settle']);
