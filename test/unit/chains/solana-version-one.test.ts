import {
  addSignersToTransactionMessage,
  appendTransactionMessageInstructions,
  type Blockhash,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getSignatureFromTransaction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageConfig,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { SolanaChainClient } from '../../../src/chains/solana/client';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import { readForeign, readKeys } from '../../../src/chains/solana/foreign';
import type { Hex, JsonObject } from '../../../src/chains/types';
import { toHex } from '../../../src/platform/hex';
import { solanaChain, solanaCodec } from '../../solana';
import { authorisedOnSolana, buildAuthorisedOnSolana } from '../../solana-authorisations';
import { transferSol } from '../../solana-chain';
import { StubNode } from '../../solana-node';

/** Transactions of version 1 (SIMD-0385), as an independent library makes them: others send them, and blocks have them beside those of the gateway. */

const blockhash = toBase58(Buffer.alloc(32, 9)) as Blockhash;

/** `second`: signs beside the payer. With a limit of units and a priority fee, which stand in front of the instructions, unless `isConfigured` is false. */
async function make(payer: KeyPairSigner, to: string, second?: KeyPairSigner, isConfigured = true) {
  const instructions = [payer, ...(second ? [second] : [])].map(({ address: from }) => transferSol(from, to, 5n));
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (made) => setTransactionMessageFeePayerSigner(payer, made),
    (made) => setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight: 1n }, made),
    (made) => appendTransactionMessageInstructions(instructions, made),
    (made) => (second ? addSignersToTransactionMessage([second], made) : made),
    (made) => (isConfigured ? setTransactionMessageConfig({ computeUnitLimit: 7_000, priorityFeeLamports: 3_000n }, made) : made),
  );
  const signed = await signTransactionMessageWithSigners(message);
  const wire = getBase64EncodedWireTransaction(signed);
  const { staticAccounts } = getCompiledTransactionMessageDecoder().decode(signed.messageBytes);
  return { wire, id: getSignatureFromTransaction(signed), messageBytes: Buffer.from(signed.messageBytes), staticAccounts };
}

/** As a block shows it; `lamports`: what accounts have more, by address. */
function shown(wire: string, lamports: Record<string, number>): JsonObject {
  const { keys } = readForeign(Buffer.from(wire, 'base64'), []);
  const [preBalances, postBalances] = [0, 1].map((side) => keys.map((key) => 1_000_000 + side * (lamports[key] ?? 0)));
  return { transaction: [wire, 'base64'], meta: { err: null, preBalances: preBalances!, postBalances: postBalances! } };
}

let node: StubNode;
let client: SolanaChainClient;
let payer: KeyPairSigner;
let to: string;
beforeEach(async () => {
  node = await StubNode.start();
  client = new SolanaChainClient(solanaChain, [node.url]);
  [payer, { address: to }] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
});
afterEach(() => node.stop());

test.each([true, false])('are read as their bytes say it, with limits of their own: %s', async (isConfigured) => {
  const cosigner = await generateKeyPairSigner();
  for (const second of [undefined, cosigner]) {
    const { wire, id, messageBytes, staticAccounts } = await make(payer, to, second, isConfigured);
    const read = readForeign(Buffer.from(wire, 'base64'), []);
    expect(read).toEqual({
      ...{ id, message: messageBytes, payer: payer.address, keys: [...staticAccounts] },
      signers: staticAccounts.slice(0, second ? 2 : 1),
    });
    expect(readKeys(messageBytes)).toEqual([...staticAccounts]);
  }
});

test('that are cut off are none, nor are those of a later version', async () => {
  const { wire, messageBytes } = await make(payer, to);
  const bytes = Buffer.from(wire, 'base64');
  for (const size of [1, 41, 42, messageBytes.length - 1]) expect(() => readForeign(bytes.subarray(0, size), [])).toThrow();
  const later = Buffer.from(bytes);
  later[0] = 0x82;
  expect(() => readForeign(later, [])).toThrow();
  expect(() => readKeys(later.subarray(0, messageBytes.length))).toThrow('not known');
});

test('pay deposits', async () => {
  const { wire, id } = await make(payer, to);
  const { slot } = node.mine(1, [shown(wire, { [to]: 5 })]);
  const key = solanaCodec.parseAddress(to)?.key;
  const { blocks } = await client.scan(slot, slot, (asked) => Promise.resolve(new Set(asked.filter((it) => it === key))));
  expect(blocks[0]?.deposits).toMatchObject([{ txHash: id, fromAddress: payer.address, toAddress: to, amount: 5n }]);
});

test('stop no proof that a payment of the gateway was never executed', async () => {
  const { wire } = await make(payer, to);
  const start = node.head;
  const prepared = { blockhash: start.blockhash };
  const unsigned: Hex = buildAuthorisedOnSolana({ ...authorisedOnSolana, ...prepared });
  node.mine(300, [shown(wire, { [to]: 5 })]);
  const known = {
    ...{ attempt: 1, kind: 'first', unsigned, messageKey: toHex(Buffer.alloc(32)), ids: [] },
    ...{ expiry: { blockhash: start.blockhash, slot: start.slot }, begunAt: new Date() },
  } as const;
  const [status] = await client.status([known as never]);
  expect(status).toMatchObject({ state: 'impossible' });
});
