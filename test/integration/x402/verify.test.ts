import type { Address } from 'viem';
import { OwnAddresses } from '../../../src/accounts/own-addresses';
import { getFamily } from '../../../src/chains/families';
import type { JsonObject } from '../../../src/chains/types';
import { metrics } from '../../../src/platform/metrics';
import { createLogger } from '../../../src/platform/logging';
import { presentSupported } from '../../../src/x402/presenter';
import { ServedChains } from '../../../src/x402/served';
import { X402Service } from '../../../src/x402/service';
import { PaymentVerifier } from '../../../src/x402/verify';
import { AttestedKeys } from '../../../src/wallets/attested-keys';
import { randomAddress } from '../../factories';
import { nodeKeys } from '../../node-refusals';
import { type Draft, draft, type Kind, signed } from '../../x402';
import { change } from '../../unit/x402/bodies';
import { buildTenant, expectProblem, type Fixture, registry, type Tenant } from '../http/fixture';
import { account, type Payers } from '../dev/payers';
import { base, openShop, paymentsOn, type SellerScene, setPolicy } from './seller';
import { buildSettler } from './settlement-fixture';

jest.setTimeout(120_000);

const kinds: Kind[] = ['eip3009 V1', 'eip3009', 'permit2', 'upto'];

let payers: Payers;
let fixture: Fixture;
let seller: Tenant;
let primary: Address;

let shop: SellerScene;
beforeAll(async () => {
  shop = await openShop();
  ({ payers, fixture, seller, primary } = shop);
});
afterAll(() => shop?.close());

const query = <T>(sql: string, values: unknown[] = []): Promise<T[]> => fixture.database.query<T[]>(sql, values);
const verify = (body: unknown, tenant: Tenant | null = seller, headers: Record<string, string> = {}) =>
  fixture.call('POST', '/x402/verify', { tenant, body, headers });
const payment = (kind: Kind, more: Partial<Draft> = {}) => signed({ kind, payer: payers.payer, facilitator: primary, ...more });

/** A service that has read nothing yet. */
function freshService(rpc = payers.anvil.rpc): X402Service {
  const addresses = new OwnAddresses(new AttestedKeys(nodeKeys, fixture.log), getFamily, fixture.log);
  const common = { database: fixture.apiDatabase, registry, getFamily, addresses };
  const served = new ServedChains({ ...common, payments: paymentsOn(rpc) });
  return new X402Service(fixture.apiDatabase, registry, new PaymentVerifier({ ...common, served }), served);
}
const silent = { warn: () => undefined };
const reasonNow = async (body: JsonObject, { clientId } = seller) =>
  (await freshService().verify(clientId, body, silent)).reason ?? 'valid';
const supportedNow = async ({ clientId } = seller) => presentSupported(await freshService().supported(clientId));

describe('a good payment is valid', () => {
  test.each(kinds)('%s', async (kind) => {
    const { status, body } = await verify(await payment(kind));
    expect([status, body]).toEqual([200, { isValid: true, invalidReason: null, payer: payers.payer.address }]);
  });

  test('of a contract wallet', async () => {
    for (const kind of kinds) {
      const { body } = await verify(await payment(kind, { from: payers.wallet }));
      expect([kind, body]).toEqual([kind, { isValid: true, invalidReason: null, payer: payers.wallet }]);
    }
  });

  test('and the database is the same afterwards', async () => {
    const image = async () => {
      const tables = await query<{ name: string }>(
        `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
      );
      const digests = tables
        .filter(({ name }) => name !== 'request_quotas')
        .map(({ name }) =>
          query(`select '${name}' as name, md5(coalesce(string_agg(t::text, ',' order by t::text), '')) from "${name}" t`),
        );
      return Promise.all(digests);
    };
    const before = await image();
    for (const kind of kinds) expect((await verify(await payment(kind))).body['isValid']).toBe(true);
    expect(await image()).toEqual(before);
  });
});

describe('what is wrong is a reason', () => {
  test('found by the checks, and by the chain', async () => {
    const body = await payment('eip3009');
    const late = change(body, { 'authorization.validBefore': '5' });
    expect((await verify(late)).body).toEqual({
      isValid: false,
      invalidReason: 'invalid_exact_evm_payload_authorization_valid_before',
      payer: payers.payer.address,
    });
    const forged = change(body, { 'authorization.validAfter': '5' });
    expect((await verify(forged)).body['invalidReason']).toBe('invalid_exact_evm_signature');
    const poor = account('poor');
    const { body: answer } = await verify(await signed({ kind: 'permit2', payer: poor }));
    expect(answer).toEqual({ isValid: false, invalidReason: 'permit2_insufficient_balance', payer: poor.address });
  });

  test.each<[string, unknown, string]>([
    ['an object without fields', {}, 'invalid_x402_version'],
    ['nothing', undefined, 'invalid_x402_version'],
    ['a list', [], 'invalid_payload'],
    ['a text', '"text"', 'invalid_payload'],
    ['null', 'null', 'invalid_payload'],
    ['fields of a prototype', '{"__proto__":{"x402Version":2},"constructor":{"prototype":1}}', 'invalid_x402_version'],
    ['fields that nobody knows', { x402Version: 2, unknown: { deep: [1] } }, 'invalid_payload'],
    ['another network', { ...draftOf('eip155:1'), extra: 1 }, 'invalid_network'],
  ])('%s', async (_, body, reason) => {
    const { status, body: answer } = await verify(body);
    expect([status, answer['isValid'], answer['invalidReason']]).toEqual([200, false, reason]);
  });

  test('except for what is no JSON, and for who is nobody', async () => {
    expectProblem(await verify('{'), 400, 'invalid_parameter', 'body');
    expectProblem(await verify('no JSON'), 400, 'invalid_parameter', 'body');
    expectProblem(await verify({}, seller, { 'Content-Type': 'text/plain' }), 415, 'unsupported_media_type');
    expectProblem(await verify({ long: 'x'.repeat(101 * 1024) }), 413, 'payload_too_large');
    expectProblem(await verify({}, null), 401, 'unauthorized');
    expectProblem(await fixture.call('GET', '/x402/supported', { tenant: null }), 401, 'unauthorized');
    expectProblem(await fixture.call('GET', '/x402/supported?chain=base', { tenant: seller }), 400, 'invalid_parameter', 'chain');
  });
});

/** Well formed, for a network of which the client has no settlements. */
function draftOf(network: string): JsonObject {
  return change(draft({ kind: 'eip3009', payer: account('payer') }), { 'terms.network': network });
}

describe('what is served', () => {
  test('is told with the names of each version', async () => {
    const network = 'eip155:8453';
    const { status, body } = await fixture.call('GET', '/x402/supported', { tenant: seller });
    expect([status, body]).toEqual([
      200,
      {
        kinds: [
          { x402Version: 2, scheme: 'exact', network },
          { x402Version: 2, scheme: 'upto', network, extra: { facilitatorAddress: primary } },
          { x402Version: 1, scheme: 'exact', network: 'base' },
        ],
        extensions: [],
        signers: { 'eip155:*': [primary] },
      },
    ]);
  });

  test('to a client without a policy is nothing, nor to one whose policy refuses', async () => {
    const refused = await buildTenant(fixture);
    await setPolicy(fixture.database, refused, { isEnabled: false });
    const elsewhere = await buildTenant(fixture);
    await setPolicy(fixture.database, elsewhere, { chain: 'ethereum' });
    for (const tenant of [await buildTenant(fixture), refused, elsewhere]) {
      const { body } = await fixture.call('GET', '/x402/supported', { tenant });
      expect(body).toEqual({ kinds: [], extensions: [], signers: {} });
      const answer = await verify(await payment('eip3009'), tenant);
      expect(answer.body).toEqual({ isValid: false, invalidReason: 'invalid_network', payer: payers.payer.address });
    }
  });

  test('with what lets Permit2 take the tokens, where the house pays for it', async () => {
    const sponsored = await buildTenant(fixture);
    await setPolicy(fixture.database, sponsored, { sponsors: true });
    expect((await supportedNow(sponsored)).extensions).toEqual(['eip2612GasSponsoring', 'erc20ApprovalGasSponsoring']);
  });

  test('follows the settlers', async () => {
    const later = await buildSettler(fixture.database, base);
    const upto = await payment('upto', { facilitator: later.account.address as Address });
    const exact = await payment('permit2');
    expect(await reasonNow(upto)).toBe('valid');
    expect((await supportedNow()).signers).toEqual({ 'eip155:*': [primary, later.account.address] });
    const drain = (settlerId?: string) =>
      query(`update settlers set status = 'DRAINING', is_primary = false where settler_id = coalesce($1, settler_id)`, [
        settlerId ?? null,
      ]);
    await drain(later.settler.settlerId);
    expect(await reasonNow(upto)).toBe('upto_facilitator_mismatch');
    expect(await reasonNow(exact)).toBe('valid');
    // no payer, no recipient and nobody that payers name
    const own = later.account.address;
    expect(await reasonNow(change(exact, { 'terms.payTo': own, 'witness.to': own }))).toBe('invalid_payment_requirements');
    expect((await supportedNow()).signers).toEqual({ 'eip155:*': [primary] });
    const rows = await query<{ settler_id: string; is_primary: boolean }>(`select * from settlers where status = 'ACTIVE'`);
    await query('update settlers set is_primary = false');
    // one that nobody is told to name settles what names nobody
    expect((await supportedNow()).kinds.map(({ scheme }) => scheme)).toEqual(['exact', 'exact']);
    expect(await reasonNow(exact)).toBe('valid');
    await drain();
    expect(await reasonNow(exact)).toBe('invalid_network');
    expect(await supportedNow()).toEqual({ kinds: [], extensions: [], signers: {} });
    for (const { settler_id, is_primary } of rows)
      await query(`update settlers set status = 'ACTIVE', is_primary = $2 where settler_id = $1`, [settler_id, is_primary]);
    expect(await reasonNow(exact)).toBe('valid');
  });

  test('has no address that the signing nodes do not attest', async () => {
    const { settler, account: own } = await buildSettler(fixture.database, base);
    const swapped = randomAddress() as Address;
    await fixture.database.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      const values = [own.accountId, swapped, swapped.toLowerCase()];
      await manager.query('update accounts set address = $2, address_key = $3 where account_id = $1', values);
      await manager.query('update settlers set address_key = $2 where settler_id = $1', [
        settler.settlerId,
        swapped.toLowerCase(),
      ]);
    });
    const [, before] = [fixture.alerts.splice(0), fixture.alerts.length];
    expect((await supportedNow()).signers).toEqual({ 'eip155:*': [primary] });
    expect(await reasonNow(await payment('upto', { facilitator: swapped }))).toBe('upto_facilitator_mismatch');
    expect(fixture.alerts.length).toBeGreaterThan(before);
  });
});

test("a recipient on the client's blacklist is refused, without a word about the list", async () => {
  const other = await buildTenant(fixture);
  await setPolicy(fixture.database, other);
  const body = await payment('permit2');
  const { payTo } = body.paymentRequirements as { payTo: string };
  await query(
    `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
     values (gen_random_uuid(), $1, 'BLACKLIST', 'base', $2, lower($2), $3)`,
    [other.clientId, payTo, other.userId],
  );
  expect((await verify(body, other)).body['invalidReason']).toBe('invalid_payment_requirements');
  expect((await verify(body)).body['invalidReason']).toBeNull();
});

test('a chain that cannot be asked is a reason, and a line in the log without what was signed', async () => {
  const lines: string[] = [];
  const log = createLogger('test', 'warn', { write: (line) => void lines.push(line) });
  const body = await payment('eip3009');
  const verdict = await freshService('http://127.0.0.1:9').verify(seller.clientId, body, log);
  expect(verdict).toEqual({ reason: 'unexpected_verify_error', payer: payers.payer.address });
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'warn', chain: 'base', err: expect.anything() });
  expect(lines[0]).toMatch(/no RPC endpoint responded/);
  const { signature } = (body.paymentPayload as { payload: { signature: string } }).payload;
  expect(lines[0]?.toLowerCase()).not.toContain(signature.slice(2, 60));
});

test('verdicts are counted by what was asked for and what was answered', async () => {
  const count = async () => {
    const text = await metrics.metrics();
    const line = /^gateway_x402_verifications_total\{scheme="upto",method="permit2",reason="valid"\} (\d+)$/m.exec(text);
    return {
      valid: Number(line?.[1] ?? 0),
      timed: Number(/^gateway_x402_verification_duration_seconds_count\{verdict="valid"\} (\d+)$/m.exec(text)?.[1] ?? 0),
    };
  };
  const before = await count();
  await verify(await payment('upto'));
  expect(await count()).toEqual({ valid: before.valid + 1, timed: before.timed + 1 });
  await verify({});
  expect(await metrics.metrics()).toMatch(
    /gateway_x402_verifications_total\{scheme="unknown",method="unknown",reason="invalid_x402_version"\}/,
  );
});
