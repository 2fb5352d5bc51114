import { randomAddress } from '../factories';
import { gatewayQuery, loginOf, query, refusal } from './processes';
import { isConfirmed, Scene, withoutWorker } from './scene';
import { type OrderedTransfer } from './transfers';

/** SECURITY.md, row `worker`: somebody has the worker's login, and reaches Temporal as the worker does. */

const insufficientPrivilege = '42501';

const scene = new Scene();

describe('with its login it cannot', () => {
  let ordered: OrderedTransfer;
  beforeAll(async () => {
    ordered = await withoutWorker(() => scene.order());
  }, 120_000);
  afterAll(() => isConfirmed(ordered));

  test.each([
    ['change a destination', `update transactions set to_address = :address, to_address_key = :address where tx_id = :tx`],
    ['change an amount', `update transactions set amount = amount + 1 where tx_id = :tx`],
    ['change an address', `update accounts set address = :address, address_key = :address where account_id = :account`],
    ['change a key that is in use', `update wallets set key_id = 'another' where key_status = 'ACTIVE'`],
    ['change the bytes of an attempt', `update transfer_attempts set unsigned = '0x00' where tx_id = :tx`],
    [
      'insert an attempt',
      `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound)
       values (:tx, 2, 'replacement', 'ethereum', '{}', '0x', '[]', 'another', 1)`,
    ],
    [
      'insert a reservation',
      `insert into reservations (chain, owner, resource, ordinal, tx_id) values ('ethereum', :address, '9', 9, :tx)`,
    ],
    ['insert an order', `insert into orders (jti, seq, kind, claims) values (gen_random_uuid(), 1, 'transfer', '{}')`],
    ['approve', `update transactions set approved_by = requested_by, approved_at = now() where tx_id = :tx`],
    ['begin signing', `update transactions set status = 'SIGNING', version = version + 1 where tx_id = :tx`],
    ['request an abandonment', `insert into operator_requests (tx_id, kind, attempt, operator) values (:tx, 'abandon', 1, 'x')`],
    [
      'refuse in the name of a node',
      `insert into node_refusals (tx_id, attempt, node, statement, signature) values (:tx, 1, 1, '', '')`,
    ],
    ['change lists', `update security_factors set status = 'inactive'`],
    ['change policies', `update clients set whitelist_mode = 'off'`],
    ['change limits', `delete from wallet_limits`],
    ['read API keys', `select secret_hash from api_keys`],
    ['read TOTP secrets', `select secret from user_totp`],
    ['remove an audit row', `delete from audit_events`],
  ])('%s', async (_, statement) => {
    const values = { tx: ordered.txId, account: scene.account.account_id, address: randomAddress().toLowerCase() };
    const sql = statement.replace(/:(tx|account|address)/g, (_match, name: keyof typeof values) => `'${values[name]}'`);
    expect(await refusal(loginOf('gateway_worker'), sql)).toBe(insufficientPrivilege);
  });
});

test('can report false chain data: a false proof of impossibility has no second payment ordered, and what is executed counts', async () => {
  const ordered = await withoutWorker(async () => {
    const real = await scene.order();
    const proof = JSON.stringify({ reason: 'false' });
    const prove = 'update transfer_attempts set impossible_proof = $2 where tx_id = $1';
    await query(loginOf('gateway_worker'), prove, [real.txId, proof]);
    const prepared = await scene.prepared();
    const request = { txId: real.txId, lastAttempt: 1, prepared };
    for (const kind of ['replacement', 'reissue', 'cancellation'] as const) {
      const answer = await scene.temporal.beginSigning({ ...request, kind }).catch((error: unknown) => error);
      expect(answer).not.toMatchObject({ outcome: 'begun' });
    }
    expect(await gatewayQuery('select kind from orders where tx_id = $1', [real.txId])).toEqual([{ kind: 'transfer' }]);
    return real;
  });
  await isConfirmed(ordered);
});

test('cannot refuse in the name of a node: refusals that no node has signed cancel nothing', async () => {
  const ordered = await withoutWorker(async () => {
    const real = await scene.order();
    const text = (node: number) => JSON.stringify({ node, tx_id: real.txId, attempt: 1, kind: 'first', reason: 'none' });
    const refusals = [1, 2].map((node) => ({ text: text(node), signature: Buffer.alloc(64).toString('base64') }));
    expect(await scene.temporal.authoriser('recordNodeRefusals', { txId: real.txId, refusals })).toEqual({ accepted: false });
    return real;
  });
  await isConfirmed(ordered);
});
