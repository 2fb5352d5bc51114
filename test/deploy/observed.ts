import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { until } from '../../dev/processes';
import { yamlBlocks } from '../unit/documents/shell-blocks';
import type { Containers, Overrides } from './containers';
import type { RunShell } from './docker';
import type { KeysSince } from './keys-since';
import { LeakedClient } from './leaked-client';
import type { PaidSince } from './paid-since';
import type { Payments } from './payments';

export interface ObservedParts {
  /** Between the dumps and their restores: of the gateway's database, and then of a node's. */
  paidSince: PaidSince;
  keysSince: KeysSince;
  payments: Payments;
  runShell: RunShell;
  /** Of the shell. */
  cwd: string;
  folder: string;
}

interface Observed {
  before?: { what: string; check: () => Promise<unknown> };
  after?: { what: string; check: (output: string) => Promise<unknown> };
}

/** The part whose secrets docs/deployment.md restores. */
const restoredPart = 'mpc-node-2';
/** Transfers that were accepted less than five minutes ago are not looked at (src/transfers/start/lost-workflows.ts). */
const listedWithinMs = 6 * 60_000;
const document = 'docs/deployment.md';
const overrideName = 'docker-compose.override.yml';

/** What is looked at before and after code of docs/deployment.md, by its heading and its number below it. */
export function observe(
  containers: Containers,
  { paidSince, keysSince, payments, runShell, cwd, folder }: ObservedParts,
): Map<string, Observed> {
  const volume = (part: string) => path.join(folder, 'volumes', `secrets-${part}`);
  const read = (part: string, file: string) => readFileSync(path.join(volume(part), file), 'utf8');
  const isPaid = { what: 'a transfer is CONFIRMED then', check: () => payments.pay() };
  let kept = '';
  let laterHead = '';
  let open = '';
  let token = '';
  let formerKeys: string[] = [];
  const listFormerKeys = () => readdirSync(path.join(cwd, 'new')).filter((name) => name.endsWith('.before'));
  const leaked = new LeakedClient(containers, { part: 'worker', volume: volume('worker'), folder });
  let serverKeys: string[] = [];
  const readServerKeys = () => ['server_key', 'system_worker_key', 'internode_key'].map((name) => read('temporal', name));
  const overridden: string[] = [];
  /** As an operator who adds what the documents show to the file that is there. */
  const writeOverrides = () => {
    const services: Overrides['services'] = {};
    for (const section of overridden) {
      const block = yamlBlocks(document).find((it) => it.section === section);
      if (!block) throw new Error(`${document}, ${section}: there is no ${overrideName}`);
      for (const [name, { environment, volumes = [] }] of Object.entries((parse(block.code) as Overrides).services))
        services[name] = {
          environment: { ...services[name]?.environment, ...environment },
          volumes: [...(services[name]?.volumes ?? []), ...volumes],
        };
    }
    writeFileSync(path.join(cwd, overrideName), stringify({ services }));
  };
  const addOverride = (section: string) => {
    overridden.push(section);
    return Promise.resolve(writeOverrides());
  };
  const removeOverride = (section: string) => {
    overridden.splice(overridden.indexOf(section), 1);
    return Promise.resolve(writeOverrides());
  };
  const audit = (words: string) => runShell(`docker compose run --rm --no-deps -T gateway audit ${words}`);

  return new Map<string, Observed>([
    [
      'Backups on one machine 2',
      {
        after: {
          what: 'what is lost of it is noticed',
          check: async () => {
            for (const file of readdirSync(cwd).filter((name) => name.endsWith('.secrets')))
              if (readFileSync(path.join(cwd, file)).includes('PRIVATE KEY')) throw new Error(`${file} is not encrypted`);
            kept = hashOf(volume(restoredPart));
            removeAllIn(volume(restoredPart));
            const refused = await runShell('docker compose run --rm --no-deps -T setup 2>&1 || true');
            if (!/was made before and is missing now/.test(refused)) throw new Error(`setup has not noticed it:\n${refused}`);
          },
        },
      },
    ],
    [
      'Backups on one machine 3',
      {
        after: {
          what: 'every file is as it was',
          check: () => equal(`secrets of ${restoredPart}`, hashOf(volume(restoredPart)), kept),
        },
      },
    ],
    [
      'Backups on one machine 4',
      {
        after: {
          what: 'a transfer that the dump does not have',
          check: async () => {
            await paidSince.pay();
            [, laterHead = ''] = /"head": "(.*)"/.exec(await audit('head --json')) ?? [];
          },
        },
      },
    ],
    [
      'Backups on one machine 5',
      {
        after: {
          what: 'it is rebuilt, and not paid again with its key',
          check: (output) => paidSince.comesBack(runShell, output),
        },
      },
    ],
    [
      'Backups on one machine 6',
      {
        after: {
          what: 'a head from after the dump is not in the log; wallets whose keys the dump of a node does not have',
          check: async (output) => {
            if (!output.includes('the audit log matches its seals')) throw new Error(`audit verify has printed:\n${output}`);
            const later = await audit(`verify --head ${laterHead} 2>&1 || true`);
            if (!/\d findings?$/m.test(later)) throw new Error(`the log has ${laterHead}:\n${later}`);
            await keysSince.make();
          },
        },
      },
    ],
    [
      'Backups on one machine 7',
      {
        after: {
          what: 'the node signs with older keys; those that it lacks are named, and their funds moved by the others',
          check: () => keysSince.areMoved(runShell),
        },
      },
    ],
    [
      "Temporal's databases are lost 1",
      {
        before: {
          what: 'a transfer that waits for its order',
          check: async () => {
            await runShell('docker compose stop authoriser');
            open = await payments.send();
          },
        },
        after: {
          what: 'it has no workflow',
          check: async () => {
            let listed = '';
            const isListed = async () => {
              listed = await runShell('docker compose run --rm --no-deps -T gateway transfers list --without-workflow');
              return listed.includes(open);
            };
            if (!(await until(isListed, listedWithinMs, 15_000)))
              throw new Error(`${open} is not without a workflow:\n${listed}`);
          },
        },
      },
    ],
    ["Temporal's databases are lost 2", { after: { what: 'it is CONFIRMED then', check: () => payments.confirm(open) } }],
    [
      'The order key 1',
      {
        before: { what: 'the order key', check: () => Promise.resolve((kept = read('authoriser', 'order_key'))) },
        after: isPaid,
      },
    ],
    [
      'The order key 2',
      {
        after: {
          what: 'nodes have the new key alone, by which a transfer is CONFIRMED',
          check: async () => {
            if (read('authoriser', 'order_key') === kept) throw new Error('the order key is the former one');
            for (const node of ['mpc-node-1', 'mpc-node-2', 'mpc-node-3']) {
              const { keys } = JSON.parse(read(node, 'order_keys')) as { keys: unknown[] };
              await equal(`keys of ${node}`, String(keys.length), '1');
            }
            await addOverride('The order key');
            await payments.pay();
          },
        },
      },
    ],
    [
      'The `kek` of a node 1',
      {
        before: { what: 'the kek', check: () => Promise.resolve((kept = read('mpc-node-1', 'kek').trim())) },
        after: {
          what: 'every share is under the new one, and a transfer CONFIRMED',
          check: async (output) => {
            if (!/^resealed +[1-9]/m.test(output)) throw new Error(`no share was resealed:\n${output}`);
            if (!/^[0-9a-f]{64}\n$/.test(read('mpc-node-1', 'kek')) || read('mpc-node-1', 'kek').includes(kept))
              throw new Error('the kek is the former one');
            await equal('the former kek', readFileSync(path.join(cwd, 'new/mpc-node-1.kek.before'), 'utf8').trim(), kept);
            await payments.pay();
          },
        },
      },
    ],
    [
      'Keys of stored secrets in their files 1',
      {
        after: {
          what: 'secrets are under the new keys, and a transfer CONFIRMED',
          check: async (output) => {
            if (!/^totp_secrets +[1-9]/m.test(output)) throw new Error(`no secret was resealed:\n${output}`);
            for (const key of ['totp_secrets_key', 'webhook_secrets_key'])
              await equal(`${key} of the operators`, read('operator', key), read('api', key));
            await payments.pay();
          },
        },
      },
    ],
    ['Keys of stored secrets in their files 3', { after: isPaid }],
    [
      'The key of access tokens 1',
      {
        before: {
          what: 'a token, and the file that adds public keys',
          check: async () => {
            token = await payments.token();
            await addOverride('The key of access tokens');
          },
        },
        after: {
          what: 'tokens of both keys are accepted, and a transfer is CONFIRMED',
          check: async () => {
            await equal('answer to the former token', String(await payments.statusWith(token)), '200');
            await payments.pay();
          },
        },
      },
    ],
    [
      'The key of access tokens 2',
      {
        before: { what: 'without that', check: () => removeOverride('The key of access tokens') },
        after: {
          what: 'those of the former key are refused, and a transfer is CONFIRMED',
          check: async () => {
            await equal('answer to the former token', String(await payments.statusWith(token)), '401');
            await payments.pay();
          },
        },
      },
    ],
    [
      'The identity of a node 1',
      {
        before: { what: 'the file that adds former certificates', check: () => addOverride('The identity of a node') },
        after: {
          what: 'journals are verified with both certificates, and a transfer is CONFIRMED',
          check: async () => {
            for (const node of ['mpc-1', 'mpc-2', 'mpc-3']) {
              const verified = await runShell(`docker compose run --rm --no-deps -T ${node} mpc journal verify --peers`);
              if (!verified.includes('the journal is what this node has signed')) throw new Error(`${node}:\n${verified}`);
            }
            await payments.pay();
          },
        },
      },
    ],
    [
      'Former keys 1',
      {
        before: {
          what: 'those of the steps before are there',
          check: () => Promise.resolve((formerKeys = listFormerKeys())),
        },
        after: {
          what: 'they are encrypted, and gone from the folder',
          check: async () => {
            await equal('former keys', String(formerKeys.length), '4');
            await equal('what is left', listFormerKeys().join(), '');
            for (const name of formerKeys) {
              const kept = readdirSync(cwd).filter((file) => file.startsWith(`${name}.`) && file.endsWith('.secrets'));
              await equal(`files of ${name}`, String(kept.length), '1');
            }
          },
        },
      },
    ],
    [
      'Keys of clients of Temporal 1',
      {
        before: { what: 'Temporal accepts a copy of the key and certificate of a client', check: () => leaked.isAccepted() },
        after: {
          what: 'it refuses them, and a transfer is CONFIRMED',
          check: async () => {
            await leaked.isRefused();
            await payments.pay();
          },
        },
      },
    ],
    [
      'Keys of clients of Temporal 2',
      {
        before: { what: 'the server has its keys', check: () => Promise.resolve((serverKeys = readServerKeys())) },
        after: {
          what: 'each is another one, and a transfer is CONFIRMED',
          check: async () => {
            const same = readServerKeys().filter((key, index) => key === serverKeys[index]);
            await equal('keys that are as before', String(same.length), '0');
            await payments.pay();
          },
        },
      },
    ],
  ]);
}

function equal(what: string, given: string, expected: string): Promise<void> {
  if (given !== expected) throw new Error(`${what}: ${given} in place of ${expected}`);
  return Promise.resolve();
}

/** Of names, owners, modes and contents. */
function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) {
    const file = path.join(folder, name);
    const { uid, gid, mode } = statSync(file);
    hash.update(`${name} ${uid} ${gid} ${mode}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

export function removeAllIn(folder: string): void {
  if (existsSync(folder)) for (const name of readdirSync(folder)) rmSync(path.join(folder, name), { recursive: true });
}
