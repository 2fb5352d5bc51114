import { getFamily } from '../../../src/chains/families';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { GatewayError } from '../../../src/platform/errors';
import { findTransaction } from '../../../src/transactions/state';
import { transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { buildTransferRequest } from '../../factories';
import { claimsOf } from '../../orders';
import { booksAgree, ServedWorkflows, until } from './served';

/** A workflow that begins with an attempt of which it has no signatures, as that of a rebuilt transfer does. */

jest.setTimeout(120_000);

const served = new ServedWorkflows();

const setWhitelist = (mode: 'approve' | 'off') =>
  served.fixture.database.query('update clients set whitelist_mode = $1 where client_id = $2', [
    mode,
    served.fixture.alice.clientId,
  ]);

/** Ordered once; the approval that it would need now is not on the row. */
async function orderedWithoutApproval() {
  const { fixture } = served;
  const request = buildTransferRequest(fixture.alice, fixture.chain, {
    tokenSymbol: 'USDC',
    amount: '5',
    toAddress: fixture.bob.address,
  });
  const { txId } = await fixture.ledger.lockTransfer(request);
  const next = { txId, attempt: 1, kind: 'first' } as const;
  const begun = await fixture.ledger.beginAttempt({ ...next, prepared: await fixture.onChain.prepareAttempt(next) });
  if (begun.outcome !== 'begun') throw new Error(begun.outcome);
  await setWhitelist('approve');
  const { from } = claimsOf(begun.order);
  const { bytes, id } = getFamily('evm').assemble(begun.unsigned, fixture.signatures(begun.unsigned, from), from);
  const start = async () => transferWorkflowsOn(served.client).start(await findTransaction(fixture.database.manager, txId));
  return { txId, bytes, id, start };
}

const statuses = async (txId: string) =>
  (
    await served.fixture.database.query<{ status: string }[]>(
      'select status from transaction_events where tx_id = $1 order by seq',
      [txId],
    )
  ).map(({ status }) => status);

test('one that the chain has executed is settled without an order, an approval or a park, long before its block is final', async () => {
  const { fixture } = served;
  const { txId, bytes, id, start } = await orderedWithoutApproval();
  await fixture.client.broadcast(bytes);
  await fixture.mine();
  const orders: string[] = [];
  await served.serve({
    authoriser: {
      beginSigning: (input) => {
        orders.push(input.kind);
        return fixture.ledger.beginSigning(input);
      },
    },
  });
  await start();
  await until('its inclusion is stored', async () => (await fixture.attempts(txId))[0]?.included_id === id);
  await served.ends(txId, 'CONFIRMED');
  expect(orders).toEqual([]);
  expect(await statuses(txId)).toEqual(['PENDING', 'SIGNING', 'CONFIRMED']);
  await booksAgree(fixture);
  await served.record(transferWorkflowId(txId), 'transfer-confirmed-rebuilt-executed');
});

test('one that the chain has executed deep enough is settled at once', async () => {
  const { fixture } = served;
  const { txId, bytes, start } = await orderedWithoutApproval();
  await fixture.client.broadcast(bytes);
  await fixture.mine(fixture.chain.confirmations);
  await fixture.follow();
  await served.serve();
  await start();
  await until('confirmed', async () => (await served.status(txId)) === 'CONFIRMED');
  await booksAgree(fixture);
  await served.record(transferWorkflowId(txId), 'transfer-confirmed-rebuilt-settled');
});

test('one of which a proof says that its nonce is used up is signed and sent: the chain itself answers', async () => {
  const { fixture } = served;
  const { txId, start } = await orderedWithoutApproval();
  await setWhitelist('off');
  await fixture.database.query(`update transfer_attempts set impossible_proof = '{"kind": "nonce_used"}' where tx_id = $1`, [
    txId,
  ]);
  await served.serve();
  await start();
  await served.ends(txId, 'CONFIRMED');
  await booksAgree(fixture);
  await served.record(transferWorkflowId(txId), 'transfer-confirmed-rebuilt-proof-unproven');
});

test('one that the chain does not know is signed only with the approval that it needs now', async () => {
  const { txId, start } = await orderedWithoutApproval();
  await served.serve();
  await start();
  await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
  await setWhitelist('off');
  expect(await served.operations.retry(txId)).toBe('retrying');
  await served.ends(txId, 'CONFIRMED');
  await booksAgree(served.fixture);
  await served.record(transferWorkflowId(txId), 'transfer-confirmed-rebuilt-absent');
});

test('if the chain cannot be asked it is parked with what failed, and a retry asks again before anything is signed', async () => {
  const { fixture } = served;
  const { txId, bytes, id, start } = await orderedWithoutApproval();
  await fixture.client.broadcast(bytes);
  await fixture.mine();
  let asked = 0;
  await served.serve({
    authoriser: { beginSigning: () => Promise.reject(new Error('nothing is to be ordered')) },
    chain: {
      observe: (input) => {
        asked += 1;
        if (asked === 1) throw new GatewayError('invalid_parameter', 'the endpoint serves another chain');
        return fixture.onChain.observe(input);
      },
    },
  });
  await start();
  await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
  expect(await fixture.transaction(txId)).toMatchObject({
    failure_code: 'invalid_parameter',
    failure_message: 'The chain could not be asked what became of attempt 1: the endpoint serves another chain',
  });
  expect(await served.operations.retry(txId)).toBe('retrying');
  await until('its inclusion is stored', async () => (await fixture.attempts(txId))[0]?.included_id === id);
  await served.ends(txId, 'CONFIRMED');
  await booksAgree(fixture);
  await served.record(transferWorkflowId(txId), 'transfer-confirmed-rebuilt-parked');
});

test('one that the follower has seen in a block is confirmed and not ordered again, though a node that lags does not know it', async () => {
  const { fixture } = served;
  const { txId, bytes, start } = await orderedWithoutApproval();
  await setWhitelist('off');
  let asked = 0;
  const orders: string[] = [];
  await served.serve({
    authoriser: {
      beginSigning: async (input) => {
        const result = await fixture.ledger.beginSigning(input);
        orders.push(result.outcome);
        return result;
      },
    },
    chain: {
      observe: async (input) => {
        asked += 1;
        if (asked > 1) return fixture.onChain.observe(input);
        // once the run has read the rows
        await fixture.client.broadcast(bytes);
        await fixture.mine();
        await fixture.follow();
        return { state: 'absent', hash: null, blockNumber: null, confirmations: 0 };
      },
    },
  });
  await start();
  await served.ends(txId, 'CONFIRMED');
  expect(orders).toEqual(['refused']);
  await booksAgree(fixture);
  await served.record(transferWorkflowId(txId), 'transfer-confirmed-rebuilt-included');
});
