import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { KeyProtocol } from '../../src/chains/types';
import { nodeIndexes, type NodeIndex } from '../../src/messages/nodes';
import { generateAccountKeyWorkflowId, generateKeyWorkflowId } from '../../src/messages/workflow-ids';
import type { Identity } from '../../src/mpc/identity';
import { parseKeks, ShareCipher } from '../../src/mpc/share-cipher';
import { shareColumns, type ShareRow, toBinding, toSealed } from '../../src/mpc/share-rows';
import { parsePeers } from '../../src/mpc/transport-client';
import { readConfig } from '../../src/platform/config';
import { isInStack } from '../families';
import { solanaFixture } from '../families/solana';
import { createAccount, createActiveWallet, stack } from '../stack/client';
import { pids } from '../stack/pause';
import { nodeEnvironment, nodeIdentity, nodeQuery } from './nodes';
import { environmentOf, gatewayQuery, query } from './processes';
import { shareOf, showsPartOf } from './share-parts';
import { TemporalClient } from './temporal-client';

/** SECURITY.md: a node, the API, the authoriser, the worker and the owner of the gateway's database learn no share of a node. */

const insufficientPrivilege = '42501';

const { chain } = solanaFixture;
/** Of a wallet, and of an account that has a key of its own, which count as skipped where there is no node of its chain. */
const protocols: readonly KeyProtocol[] = ['ecdsa-secp256k1', 'frost-ed25519'];
const isTested = (protocol: KeyProtocol) => protocol === 'ecdsa-secp256k1' || isInStack(solanaFixture);
const keyIds = new Map<KeyProtocol, string>();
const keyOf = (protocol: KeyProtocol): string => keyIds.get(protocol) ?? '';
/** The gateway's database, and what whoever reaches Temporal reads about the generation of the keys. */
let shown: string;
beforeAll(async () => {
  const { wallet_id: walletId } = await createActiveWallet();
  const [wallet] = await gatewayQuery<{ key_id: string }>('select key_id from wallets where wallet_id = $1', [walletId]);
  keyIds.set('ecdsa-secp256k1', wallet?.key_id ?? '');
  const generations = [generateKeyWorkflowId(walletId)];
  if (isTested('frost-ed25519')) {
    const { account_id: id } = await createAccount(walletId, chain);
    const [account] = await gatewayQuery<{ key_id: string }>('select key_id from accounts where account_id = $1', [id]);
    keyIds.set('frost-ed25519', account?.key_id ?? '');
    generations.push(generateAccountKeyWorkflowId(id));
  }
  shown = [await databaseText(), await historyText(generations)].join('\n');
});

const processes = ['api', 'authoriser', 'worker'] as const;
const environmentOfProcess = (name: (typeof processes)[number]) => environmentOf(pids(name)[0] ?? 0);
const othersOf = (node: NodeIndex) => nodeIndexes.filter((other) => other !== node);

/** Everything that a process is started with: the values of its environment, and the files that these name. */
const credentialsOf = (env: NodeJS.ProcessEnv): string => {
  const paths = Object.keys(env).flatMap((name) => (name.endsWith('_FILE') ? (env[name] ?? []) : []));
  // a process also inherits names that mean nothing to it
  const files = paths.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'));
  return [...Object.values(env), ...files].join('\n');
};

/** What only a node itself may have: its key-encryption key, the key of its identity, and the password of its database. */
function secretsOf(node: NodeIndex): string[] {
  const config = readConfig(['MPC_NODE_KEK', 'MPC_NODE_TLS_KEY', 'MPC_NODE_DATABASE_URL'], nodeEnvironment(node));
  return [config.MPC_NODE_KEK, config.MPC_NODE_TLS_KEY.trim(), new URL(config.MPC_NODE_DATABASE_URL).password];
}

describe.each(nodeIndexes)('of node %d', (node) => {
  test('nobody else is started with its credentials', () => {
    const others: [string, NodeJS.ProcessEnv][] = [];
    for (const name of processes) others.push([name, environmentOfProcess(name)]);
    for (const other of othersOf(node)) others.push([`node ${other}`, nodeEnvironment(other)]);
    const secrets = secretsOf(node);
    expect(secrets.every((secret) => secret.length >= 32 && credentialsOf(nodeEnvironment(node)).includes(secret))).toBe(true);
    for (const [name, env] of others)
      expect([name, secrets.filter((secret) => credentialsOf(env).includes(secret))]).toEqual([name, []]);
  });

  test('its database refuses every other login, also that of the owner of the gateway’s', async () => {
    const own = new URL(nodeEnvironment(node).MPC_NODE_DATABASE_URL ?? '');
    const logins = [
      stack().postgres.url,
      stack().postgres.operator_url,
      ...processes.map((name) => environmentOfProcess(name).DATABASE_URL ?? ''),
      ...othersOf(node).map((other) => nodeEnvironment(other).MPC_NODE_DATABASE_URL ?? ''),
    ];
    const shares = await query(own.href, 'select from key_shares where key_id = any($1)', [[...keyIds.values()]]);
    expect(shares).toHaveLength(keyIds.size);
    for (const login of logins) {
      const url = new URL(login);
      url.pathname = own.pathname;
      await expect(query(url.href, 'select from key_shares')).rejects.toMatchObject({ code: insufficientPrivilege });
    }
  });

  for (const protocol of protocols)
    (isTested(protocol) ? describe : describe.skip)(`of a key of ${protocol}`, () => {
      test('its rows are opened by no other node’s key-encryption keys', async () => {
        const [row] = await nodeQuery<ShareRow>(node, `select ${shareColumns} from key_shares where key_id = $1`, [
          keyOf(protocol),
        ]);
        if (!row) throw new Error(`node ${node} has no share`);
        const open = (keksOf: NodeIndex, as: NodeIndex) => {
          const { MPC_NODE_KEK } = readConfig(['MPC_NODE_KEK'], nodeEnvironment(keksOf));
          const cipher = new ShareCipher(parseKeks(MPC_NODE_KEK), as);
          // whoever has the row can say that it was sealed with this key
          return cipher.open({ ...toSealed(row), kekFingerprint: cipher.fingerprint }, toBinding(row));
        };
        expect(open(node, node).length).toBeGreaterThan(0);
        for (const other of othersOf(node))
          for (const as of [node, other]) expect(() => open(other, as)).toThrow('cannot be decrypted');
      });

      test('it gives its peers signed statements, and no path that gives a share', async () => {
        const id = keyOf(protocol);
        const share = await shareOf(node, id);
        for (const other of othersOf(node)) {
          const identity = nodeIdentity(other);
          expect(await get(identity, node, '/ping')).toEqual({ status: 200, body: '' });
          const journal = await get(identity, node, '/journal/0');
          expect(journal.status).toBe(200);
          expect(showsPartOf(share, journal.body)).toBe(false);
          for (const path of ['/shares', `/shares/${id}`, '/keys', `/keys/${id}`, '/export', '/sessions', '/bans'])
            expect(await get(identity, node, path)).toMatchObject({ status: 404 });
        }
        await expect(get(null, node, '/ping')).rejects.toThrow();
      });

      test('neither the gateway’s database nor the history of the key’s generation shows a part of it, or what opens it', async () => {
        const share = await shareOf(node, keyOf(protocol));
        for (const form of ['latin1', 'hex', 'base64', 'base64url'] as const)
          expect(showsPartOf(share, share.share.toString(form))).toBe(true);
        expect(shown).toContain(keyOf(protocol));
        expect(showsPartOf(share, shown)).toBe(false);
        expect(secretsOf(node).filter((secret) => shown.includes(secret))).toEqual([]);
      });
    });
});

test('nor does it show the key that signs orders', () => {
  const { ORDER_KEY } = readConfig(['ORDER_KEY'], environmentOfProcess('authoriser'));
  const [, body = ''] = ORDER_KEY.split('\n');
  expect(body.length).toBeGreaterThan(40);
  expect(shown).not.toContain(body);
  expect(shown).not.toContain(Buffer.from(body, 'base64').toString('hex'));
});

/** What the owner of the gateway's database reads: every row, binary values in hex. */
async function databaseText(): Promise<string> {
  const tables = await gatewayQuery<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const rows = await Promise.all(tables.map(({ name }) => gatewayQuery<{ row: string }>(`select t::text as row from ${name} t`)));
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n');
}

async function historyText(workflowIds: readonly string[]): Promise<string> {
  const temporal = await TemporalClient.connect();
  try {
    return JSON.stringify(await Promise.all(workflowIds.map((id) => temporal.results(id))));
  } finally {
    await temporal.close();
  }
}

/** A request of one node to another, or of somebody without a certificate. */
function get(identity: Identity | null, to: NodeIndex, path: string): Promise<{ status: number; body: string }> {
  const [from = to] = othersOf(to);
  const url = parsePeers(nodeEnvironment(from).MPC_NODE_PEERS ?? '').get(to);
  if (!url) throw new Error(`node ${to} has no address`);
  const { key, cert, ca } = (identity ?? nodeIdentity(from)).files;
  const options = { ...(identity && { key, cert }), ca, checkServerIdentity: () => undefined, agent: false, timeout: 5_000 };
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, url), options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('latin1') }));
      response.on('error', reject);
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.on('error', reject).end();
  });
}
