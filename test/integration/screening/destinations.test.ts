import { getFamily } from '../../../src/chains/families';
import { isBlacklisted, evaluateDestination } from '../../../src/screening/destinations';
import { buildClient, randomAddress } from '../../factories';
import { createTestDatabase, type TestDatabase } from '../../stack/database';
import { listAddress, setPolicy, unlist } from './factors';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const key = (address: string) => getFamily('evm').parseAddress(address)?.key as string;
const evaluate = async (client: { clientId: string }, address: string, chain = 'ethereum', options = {}) => {
  const destination = { clientId: client.clientId, chain, addressKey: key(address) };
  const result = await evaluateDestination(db.database.manager, destination, options);
  return result.outcome === 'refused' ? result.code : result.outcome;
};

describe('the blacklist', () => {
  test.each<[string, (address: string) => string]>([
    ['with its checksum', (address) => address],
    ['in lower case', (address) => address.toLowerCase()],
    ['in upper case', (address) => `0x${address.slice(2).toUpperCase()}`],
  ])('holds for an address listed %s, however it is asked for', async (_, spell) => {
    const client = await buildClient(db.database);
    const address = randomAddress();
    await listAddress(db.database, client, spell(address));
    for (const asked of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
      expect(await evaluate(client, asked)).toBe('address_blacklisted');
    }
  });

  test('applies to one client and one chain, while the entry is active', async () => {
    const [client, other] = [await buildClient(db.database), await buildClient(db.database)];
    const address = randomAddress();
    const factorId = await listAddress(db.database, client, address);
    expect(await evaluate(other, address)).toBe('allowed');
    expect(await evaluate(client, address, 'base')).toBe('allowed');
    expect(await evaluate(client, randomAddress())).toBe('allowed');
    await unlist(db.database, factorId);
    expect(await evaluate(client, address)).toBe('allowed');
    await listAddress(db.database, client, address);
    expect(await evaluate(client, address)).toBe('address_blacklisted');
    await db.database.query('update security_factors set deleted_at = now() where client_id = $1', [client.clientId]);
    expect(await evaluate(client, address)).toBe('allowed');
  });

  test.each(['off', 'approve', 'only'] as const)(
    'has priority over the whitelist, an approval and the policy %s',
    async (mode) => {
      const client = await buildClient(db.database);
      const address = randomAddress();
      await setPolicy(db.database, client, mode);
      await listAddress(db.database, client, address, { type: 'WHITELIST' });
      await listAddress(db.database, client, address);
      expect(await evaluate(client, address)).toBe('address_blacklisted');
      expect(await evaluate(client, address, 'ethereum', { approved: true })).toBe('address_blacklisted');
      const destination = { clientId: client.clientId, chain: 'ethereum', addressKey: key(address) };
      expect(await isBlacklisted(db.database.manager, destination)).toBe(true);
    },
  );
});

describe('the whitelist', () => {
  test.each([
    ['off', 'allowed', 'allowed', 'allowed'],
    ['approve', 'needs_approval', 'allowed', 'allowed'],
    ['only', 'address_not_whitelisted', 'allowed', 'allowed'],
  ] as const)('policy %s', async (mode, unlisted, listed, approved) => {
    const client = await buildClient(db.database);
    const address = randomAddress();
    await setPolicy(db.database, client, mode);
    expect(await evaluate(client, address)).toBe(unlisted);
    expect(await evaluate(client, address, 'ethereum', { approved: true })).toBe(approved);
    await listAddress(db.database, client, address.toLowerCase(), { type: 'WHITELIST' });
    expect(await evaluate(client, address)).toBe(listed);
    expect(await evaluate(client, address, 'base')).toBe(unlisted);
  });

  test('an entry takes effect once the cooling time has passed', async () => {
    const client = await buildClient(db.database);
    const [fresh, seasoned] = [randomAddress(), randomAddress()];
    await setPolicy(db.database, client, 'only', 3600);
    await listAddress(db.database, client, fresh, { type: 'WHITELIST', ago: 3590 });
    await listAddress(db.database, client, seasoned, { type: 'WHITELIST', ago: 3601 });
    expect(await evaluate(client, fresh)).toBe('address_not_whitelisted');
    expect(await evaluate(client, seasoned)).toBe('allowed');
  });
});

test('type, chain and address of an entry cannot change', async () => {
  const client = await buildClient(db.database);
  const factorId = await listAddress(db.database, client, randomAddress());
  await expect(
    db.database.query('update security_factors set address_key = $2 where factor_id = $1', [factorId, key(randomAddress())]),
  ).rejects.toThrow(/cannot change/);
});
