import { GatewayError } from '../../../src/platform/errors';
import type { FailureCode } from '../../../src/platform/codes';
import type { NodeIndex } from '../../../src/messages/nodes';
import type { SigningClaims } from '../../../src/messages/order';
import { chainObservedSignal } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { listAuditLog } from '../../../src/audit/list';
import { signRefusal } from '../../node-refusals';
import type { FollowFixture } from '../following/fixture';
import { booksAgree, ServedWorkflows, until } from './served';

jest.setTimeout(120_000);

const served = new ServedWorkflows();
let fixture: FollowFixture;
/** Pairs that were asked, in their order: initiator and peer. */
let asked: string[];
beforeEach(() => {
  fixture = served.fixture;
  asked = [];
});

type Refusal = [FailureCode, NodeIndex];
/** Nodes that answer by what `refusal` says about a pair: the code, and which of the two refuses. `by`: whose key signs it. */
const serve = (refusal: (pair: string, claims: SigningClaims) => Refusal | undefined, by?: NodeIndex) =>
  served.serve({
    sign: (claims, initiator, peer) => {
      const pair = `${initiator}${peer}`;
      asked.push(pair);
      const [code, node] = refusal(pair, claims) ?? [];
      if (!code || !node) return;
      // what a peer has signed does not come through the initiator
      const isOwn = code === 'node_policy' && node === initiator;
      const { text, signature } = signRefusal(node, claims, { ...(by && { by }) });
      const extra = { node: String(node), ...(isOwn && { refusal: text, refusal_signature: signature }) };
      throw new GatewayError(code, 'refused', { extra });
    },
  });
const ownWord = (pair: string): Refusal => ['node_policy', pair[0] === '1' ? 2 : (Number(pair[0]) as NodeIndex)];
const parkedAs = (txId: string, code: FailureCode) =>
  until(`parked as ${code}`, async () => {
    const { status, failure_code } = await fixture.transaction(txId);
    return status === 'NEEDS_ATTENTION' && failure_code === code;
  });

/** With RECORD_HISTORIES=1 the history becomes one of the replay tests. */
const record = (txId: string, name: string) => served.record(transferWorkflowId(txId), name);

test('a pair that a ban keeps from signing is left out; the last one signs', async () => {
  let away = 1;
  await serve((pair) => {
    if (pair !== '31') return ['key_peer_banned', 2];
    return away-- > 0 ? ['signers_unavailable', 3] : undefined;
  });
  const txId = await served.submit();
  await served.ends(txId, 'CONFIRMED');
  expect([...asked].sort()).toEqual(['12', '23', '31', '31']);
  await record(txId, 'transfer-confirmed-pair-banned');
});

test('with no pair left the transfer is parked as key_frozen; a retry asks every pair again', async () => {
  let frozen = true;
  await serve((pair) => (frozen ? ['key_peer_banned', Number(pair[0]) as NodeIndex] : undefined));
  const txId = await served.submit();
  await parkedAs(txId, 'key_frozen');
  expect([...asked].sort()).toEqual(['12', '23', '31']);
  frozen = false;
  await served.operations.retry(txId);
  await served.ends(txId, 'CONFIRMED');
  await record(txId, 'transfer-confirmed-key-frozen');
});

test('what single nodes refuse does not stop a transfer: each refusal is an audit row, once for a node and code', async () => {
  await serve((pair) => {
    if (asked.length > 6) return undefined;
    if (pair === '12') return ['node_policy', 2];
    return pair === '23' ? ['order_refused', 3] : ['signers_unavailable', 1];
  });
  const txId = await served.submit();
  await served.ends(txId, 'CONFIRMED');
  const log = await listAuditLog(fixture.database.manager, { subject: txId, limit: 50 });
  const refused = log.filter(({ action }) => action === 'transfer.signing_refused').map(({ detail }) => detail);
  expect(refused).toHaveLength(2);
  expect(refused).toEqual(
    expect.arrayContaining([
      { code: 'node_policy', node: 2, attempt: 1, reason: 'refused' },
      { code: 'order_refused', node: 3, attempt: 1, reason: 'refused' },
    ]),
  );
  expect(await fixture.transaction(txId)).toMatchObject({ cancellation_reason: null, failure_code: null });
});

test('two nodes that refuse the first attempt by their limits: it is cancelled, and the transfer fails as node_policy', async () => {
  await serve((pair, { kind }) => (kind === 'cancellation' ? undefined : ownWord(pair)));
  const txId = await served.submit();
  await served.ends(txId, 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({
    failure_code: 'node_policy',
    failure_message: expect.stringMatching(/^Two signing nodes refused by their own limits: cancelled by 0x/) as string,
    cancellation_reason: 'node_policy',
  });
  expect((await fixture.attempts(txId)).map(({ kind }) => kind)).toEqual(['first', 'cancellation']);
  const log = await listAuditLog(fixture.database.manager, { subject: txId, limit: 10 });
  expect(log).toContainEqual(
    expect.objectContaining({
      action: 'transfer.cancellation_begun',
      detail: {
        code: 'node_policy',
        reason: expect.stringMatching(/^node \d: the token is not allowed; node \d: the token is not allowed$/) as string,
      },
    }),
  );
  await record(txId, 'transfer-failed-node-policy');
  await booksAgree(fixture);
});

test('a node cannot refuse in the name of another: one node’s word about two does not cancel', async () => {
  await serve((pair) => {
    if (pair === '12') return ['node_policy', 2];
    if (pair === '31') return ['node_policy', 1];
    return asked.length > 3 ? undefined : ['signers_unavailable', 2];
  });
  const txId = await served.submit();
  await served.ends(txId, 'CONFIRMED');
});

test('refusals that the nodes have not signed themselves cancel nothing: the transfer is parked, and the nodes are asked again', async () => {
  let refusing = true;
  await serve((pair) => (refusing ? ownWord(pair) : undefined), 1);
  const txId = await served.submit();
  await parkedAs(txId, 'node_policy');
  expect(await fixture.transaction(txId)).toMatchObject({ cancellation_reason: null });
  expect((await fixture.attempts(txId)).map(({ kind }) => kind)).toEqual(['first']);
  refusing = false;
  await served.operations.retry(txId);
  await served.ends(txId, 'CONFIRMED');
  await record(txId, 'transfer-confirmed-refusals-unproven');
});

test('two nodes that refuse a replacement park the transfer, until the first attempt is executed', async () => {
  await serve((pair, { kind }) => (kind === 'replacement' ? ['node_policy', Number(pair[0]) as NodeIndex] : undefined));
  const txId = await served.submit();
  await parkedAs(txId, 'node_policy');
  expect((await fixture.transaction(txId)).cancellation_reason).toBeNull();
  await fixture.mine(2);
  await fixture.follow();
  const handle = served.client.workflow.getHandle(transferWorkflowId(txId));
  await handle.signal(chainObservedSignal, { state: 'included', hash: null, blockNumber: null, confirmations: 1 });
  await served.ends(txId, 'CONFIRMED');
  await record(txId, 'transfer-confirmed-included-while-parked');
});

describe('a node that refuses the transaction itself', () => {
  const own = (pair: string): Refusal => ['intent_mismatch', Number(pair[0]) as NodeIndex];

  test('does not stop a transfer alone, whatever it answers as initiator or as peer', async () => {
    const codes: FailureCode[] = ['intent_mismatch', 'invalid_parameter', 'business_error', 'key_frozen'];
    await serve((pair) => {
      if (!pair.includes('2') || asked.length > 8) return asked.length > 8 ? undefined : ['signers_unavailable', 3];
      return [codes[asked.length % codes.length]!, 2];
    });
    const txId = await served.submit();
    await served.ends(txId, 'CONFIRMED');
    expect(asked.length).toBeGreaterThan(8);
  });

  test('cannot say it for another one', async () => {
    await serve((pair) => {
      if (asked.length > 6) return undefined;
      return pair === '23' ? ['signers_unavailable', 3] : ['intent_mismatch', pair === '12' ? 2 : 1];
    });
    const txId = await served.submit();
    await served.ends(txId, 'CONFIRMED');
    expect(asked.length).toBeGreaterThan(6);
  });

  test('and another one that does: the transfer is parked after two words, until a retry', async () => {
    let refusing = true;
    await serve((pair) => (refusing ? own(pair) : undefined));
    const txId = await served.submit();
    await parkedAs(txId, 'intent_mismatch');
    expect(asked).toHaveLength(2);
    refusing = false;
    await served.operations.retry(txId);
    await served.ends(txId, 'CONFIRMED');
    await record(txId, 'transfer-confirmed-nodes-refused');
  });
});

describe('a transfer whose network fee two nodes do not allow', () => {
  const native = () => served.submit({ tokenSymbol: 'ETH', amount: '0.1' });

  test('is cancelled at the current fees: nobody has signed the first attempt, so there is nothing to outbid', async () => {
    let first: bigint | undefined;
    await serve((pair, { kind, max_fee: fee }) => {
      first ??= BigInt(fee);
      return kind === 'transfer' || BigInt(fee) > first ? ownWord(pair) : undefined;
    });
    const txId = await native();
    await served.ends(txId, 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'node_policy' });
    expect((await fixture.attempts(txId)).map(({ kind }) => kind)).toEqual(['first', 'cancellation']);
    await booksAgree(fixture);
  });

  test('is parked when its cancellation is too dear as well, and cancelled at the fees of a later retry', async () => {
    await serve((pair, { attempt }) => (attempt < 3 ? ownWord(pair) : undefined));
    const txId = await native();
    await parkedAs(txId, 'node_policy');
    await until('two attempts', async () => (await fixture.attempts(txId)).length === 2);
    // fees fall, and the cancellation becomes old enough to be replaced
    await fixture.mine(5);
    await new Promise((resolve) => setTimeout(resolve, fixture.chain.stuckAfterMs + 100));
    await served.operations.retry(txId);
    await served.ends(txId, 'FAILED');
    expect((await fixture.attempts(txId)).map(({ kind }) => kind)).toEqual(['first', 'cancellation', 'cancellation']);
    await booksAgree(fixture);
    await record(txId, 'transfer-failed-cancellation-refused-by-nodes');
  });
});
