// The official facilitator of Solana, in a process of its own; its package is not installed with the project's own (CONTRIBUTING.md).
// Environment: RPC_URL, NETWORK (CAIP-2), SECRET (64 hex digits, of the one who would settle).
import { createRequire } from 'node:module';
import { x402Facilitator } from '@x402/core/facilitator';
import { serve } from './serve-facilitator.mjs';

const official = createRequire(new URL('../official/package.json', import.meta.url));
const { toFacilitatorSvmSigner } = official('@x402/svm');
const { ExactSvmScheme } = official('@x402/svm/exact/facilitator');
const { createKeyPairSignerFromPrivateKeyBytes, createSolanaRpc } = official('@solana/kit');

const { RPC_URL, NETWORK, SECRET } = process.env;
const settler = await createKeyPairSignerFromPrivateKeyBytes(Buffer.from(SECRET, 'hex'));
const signer = toFacilitatorSvmSigner(settler, { [NETWORK]: createSolanaRpc(RPC_URL) });
serve(new x402Facilitator().register(NETWORK, new ExactSvmScheme(signer)), ['verify']);
