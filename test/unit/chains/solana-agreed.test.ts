import type { KnownAttempt } from '../../../src/chains/chain-client';
import { SolanaChainClient } from '../../../src/chains/solana/client';
import { toBytes } from '../../../src/chains/solana/codec/address';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import { associatedTokenAccount } from '../../../src/chains/solana/codec/token-account';
import { validBlocks } from '../../../src/chains/solana/expiry';
import { readForeign } from '../../../src/chains/solana/foreign';
import type { Hex, JsonObject } from '../../../src/chains/types';
import { signMessage, solanaChain, solanaCodec } from '../../solana';
import { authorisedOnSolana, authorisedPlan, payerSecret } from '../../solana-authorisations';
import { StubError, StubNode } from '../../solana-node';

/** A payment that somebody else sends ends by what every endpoint shows: no signing node looks for the proof once more. */

let nodes: [StubNode, StubNode];
let attempt: KnownAttempt;
let bytes: Hex;
beforeEach(async () => {
  nodes = [await StubNode.start(), await StubNode.start()];
  const { blockhash, slot } = nodes[0].head;
  const plan = authorisedPlan({ ...authorisedOnSolana, blockhash });
  const unsigned = solanaCodec.build(plan);
  const { from } = authorisedOnSolana;
  const { message, digest } = solanaCodec.signingPayloads(unsigned, from)[0] as { message: Hex; digest: Hex };
  ({ bytes } = solanaCodec.assemble(unsigned, [signMessage(message, payerSecret)], from));
  attempt = {
    ...{ attempt: 1, kind: 'first', intent: plan.intent, unsigned, messageKey: solanaCodec.messageKey(unsigned, from) },
    // the hash of the message stands for an id that nobody knows
    ...{ ids: [digest], expiry: { ...plan.prepared.expiry, slot }, begunAt: new Date() },
  };
});
afterEach(() => Promise.all(nodes.map((node) => node.stop())));

const status = () =>
  new SolanaChainClient(
    solanaChain,
    nodes.map(({ url }) => url),
  ).status([attempt]);
const mine = (count = validBlocks + solanaChain.finalityDepth + 1) => nodes.forEach((node) => node.mine(count));
const refusing = () => {
  throw new StubError(-32_005);
};

/** As a block shows what somebody has sent. */
function executed(): JsonObject {
  const raw = Buffer.from(bytes.slice(2), 'hex').fill(7, 1, 65);
  const { keys } = readForeign(raw, []);
  const balances = keys.map(() => 1_000_000);
  const { from, token: mint } = authorisedOnSolana;
  const source = toBase58(associatedTokenAccount(toBytes(from), toBytes(mint), 'token'));
  const [preTokenBalances, postTokenBalances] = ['1000', '0'].map((amount) => [
    { accountIndex: keys.indexOf(source), mint, owner: from, uiTokenAmount: { amount } },
  ]);
  return {
    transaction: [raw.toString('base64'), 'base64'],
    meta: { err: null, preBalances: balances, postBalances: balances, preTokenBalances, postTokenBalances } as JsonObject,
  };
}

test('every endpoint shows that no block holds it', async () => {
  mine();
  expect(await status()).toMatchObject([{ state: 'impossible', proof: { start_slot: attempt.expiry?.slot, agreed_by: 2 } }]);
});

test('only one does, and the other does not answer: nothing is unlocked, and operators are told', async () => {
  mine();
  for (const method of ['getBlocks', 'getSlot']) nodes[1].faults.set(method, refusing);
  expect(await status()).toEqual([{ attempt: 1, state: 'absent', isUnagreed: true }]);
  nodes[1].faults.clear();
  expect(await status()).toMatchObject([{ state: 'impossible' }]);
});

test('only one does, and the other lacks the blocks', async () => {
  mine();
  nodes[1].blocks.splice(0, 20);
  expect(await status()).toEqual([{ attempt: 1, state: 'absent', isUnagreed: true }]);
});

test('the other does not have the last blocks yet: it is asked again, and nobody is told', async () => {
  mine();
  nodes[1].blocks.splice(-20);
  expect(await status()).toEqual([{ attempt: 1, state: 'absent' }]);
});

test('one leaves out the transaction that the other has: it is included, under its own id', async () => {
  nodes[0].mine();
  nodes[1].mine(1, [executed()]);
  mine();
  const { id } = readForeign(Buffer.from((executed().transaction as string[])[0] as string, 'base64'), []);
  expect(await status()).toMatchObject([{ state: 'included', id, effect: { success: true, fee: 0n, debited: 1_000n } }]);
});

test('of a busy settler only a block is read as a whole that has a transaction with all accounts of the payment', async () => {
  const other = executed();
  const [encoded] = other.transaction as string[];
  const raw = Buffer.from(encoded as string, 'base64');
  // the recipient's token account is another one
  raw[1 + 128 + 4 + 1 + 2 * 32] = (raw[1 + 128 + 4 + 1 + 2 * 32] as number) ^ 1;
  nodes.forEach((node) => node.mine(100, [{ ...other, transaction: [raw.toString('base64'), 'base64'] }]));
  mine();
  expect(await status()).toMatchObject([{ state: 'impossible' }]);
  for (const node of nodes) expect(node.blockCalls.filter((details) => details === 'full')).toEqual([]);
});
