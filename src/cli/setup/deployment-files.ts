import { randomUUID } from 'node:crypto';
import type { ChainRegistry } from '../../chains/registry';
import { GatewayError } from '../../platform/errors';
import type { GatewayEnvironment } from '../../chains/types';
import { nodeIndexes } from '../../messages/nodes';
import {
  certify,
  certifyAuthority,
  findAuthorityProblem,
  findCertificateProblem,
  type KeyAndCertificate,
  newCertificateKey,
  type Subject,
} from './certificates';
import { databaseLogins, superuserLogin, temporalLogin } from './database-logins';
import { DeploymentSecrets } from './deployment-secrets';
import { newEd25519Key, newKek, randomPassword, toJwks } from './new-secrets';
import { initialNodeLimits } from './node-limits';
import { type Owner, SecretFiles } from './secret-files';
import { internodeServerName, temporalServerConfig, temporalServerName } from './temporal-server';
import {
  findCertificateKeyWeakness,
  findEd25519Weakness,
  findJwksWeakness,
  findKekWeakness,
  findPasswordWeakness,
  findTextWeakness,
  findUrlWeakness,
  type Weakness,
} from './weakness';

/** Users of the images: `node`; `temporal` of Temporal's images; `postgres`. */
const [node, temporal, postgres]: Owner[] = [
  { uid: 1000, gid: 1000 },
  { uid: 1000, gid: 1000 },
  { uid: 999, gid: 999 },
];

/** The volumes of docker-compose.yml: each is mounted by one process, and `setup` by none but the set-up itself. */
const owners = {
  setup: { uid: 0, gid: 0 },
  postgres,
  databases: node,
  migrate: node,
  api: node,
  worker: node,
  authoriser: node,
  operator: node,
  'mpc-node-1': node,
  'mpc-node-2': node,
  'mpc-node-3': node,
  temporal,
  'temporal-schema': temporal,
  'temporal-ui': temporal,
} as Record<string, Owner>;

/** What connects to Temporal, each with a certificate of its own. */
const temporalClients = [
  'api',
  'worker',
  'authoriser',
  'operator',
  'temporal-ui',
  ...nodeIndexes.map((index) => `mpc-node-${index}`),
];
const nodeFolders = ['mpc-node-1', 'mpc-node-2', 'mpc-node-3'] as const;
/** What verifies signatures of nodes. */
const withNodeCertificates = ['api', 'worker', 'authoriser', 'operator'] as const;

/** What belongs to an authority that signs certificates: its own files, the certificates below it, and their copies; no other key. */
const filesOfAuthorities = {
  node: /^setup\/node_ca_|\/(tls_cert|tls_ca|node_certs)$/,
  temporal: /^setup\/temporal_ca_|\/temporal_(cert|ca)$|^temporal\/(server|system_worker)_cert$/,
  internode: /^setup\/internode_ca_|^temporal\/internode_(cert|ca)$/,
} as const;
export type Authority = keyof typeof filesOfAuthorities;
export const authorities = Object.keys(filesOfAuthorities) as Authority[];

interface Setup {
  /** Folder with one folder for each process. */
  root: string;
  /** Of the deployment: its files never serve another one. */
  environment: GatewayEnvironment;
  registry: ChainRegistry;
  /** An authority that gets a new key, and signs the certificates below it again, for the keys that they have. */
  renew?: Authority | undefined;
  /** Who renews it, and why: kept in the file of renewals, which is no secret. */
  renewal?: { by: string; stated_reason?: string };
}

export const renewalsFile = 'setup/renewals.json';

/**
 * Makes every secret file of a deployment that is missing. What is there is checked and never changed, but for what `renew` names.
 * @returns the files that were written
 * @throws GatewayError naming the file that is weak, does not fit the others, can be read by others or was lost, and when the files are those
 * of another environment.
 */
export async function setUpFiles({ root, environment, registry, renew, renewal }: Setup): Promise<string[]> {
  const files = new SecretFiles(root, owners);
  await files.prepare();
  const renewals = renew ? readRenewals(files) : [];
  const secrets = new DeploymentSecrets(files, (place) => renew !== undefined && filesOfAuthorities[renew].test(place));
  const environmentWeakness = findOtherEnvironment(environment);
  secrets.check(environmentFile, environmentWeakness);
  await keepEncryptionKeys(secrets);
  await keepOrders(secrets);
  await keepDatabases(secrets);
  const limits = initialNodeLimits(registry);
  for (const folder of nodeFolders)
    await secrets.keep([`${folder}/limits.json`], { create: () => limits, weakness: findTextWeakness(2), isDerived: true });
  // a key that was lost is noticed before anything is replaced
  for (const it of authorities) await keepKeys(secrets, it === renew ? keysBelow[it] : [`setup/${it}_ca_key`, ...keysBelow[it]]);
  // the certificates of the others may have expired too, or be renewed in part: each authority is renewed in its turn, and then all are compared
  for (const it of renew ? [renew] : authorities) await keepCertificates[it](secrets);
  // by the first start that was carried out: one under a wrong name that has failed leaves no mark
  await secrets.keep([environmentFile], { create: () => environment, weakness: environmentWeakness });
  await secrets.finish();
  if (renew && renewal) {
    const noted = [...renewals, { at: new Date().toISOString(), authority: renew, ...renewal }];
    await files.replace(renewalsFile, JSON.stringify(noted, null, 2));
  }
  return secrets.written;
}

/** @throws GatewayError where the file is damaged */
function readRenewals(files: SecretFiles): object[] {
  try {
    const renewals: unknown = JSON.parse(files.read(renewalsFile) ?? '[]');
    if (Array.isArray(renewals)) return renewals as object[];
  } catch {
    // as for what is no list
  }
  throw new GatewayError('business_error', `${renewalsFile} is damaged: it is no list of renewals`);
}

const environmentFile = 'setup/environment';

/** A deployment does not go on with the keys of a trial, nor with those of another environment. What is from before this file gets it now. */
const findOtherEnvironment =
  (environment: GatewayEnvironment): Weakness =>
  (kept) =>
    kept === environment
      ? null
      : `says that the keys and databases of this installation are of GATEWAY_ENV=${kept}, and now GATEWAY_ENV is ${environment}: ` +
        `start it with GATEWAY_ENV=${kept}, or begin another installation in a folder of another name (docs/deployment.md)`;

async function keepEncryptionKeys(secrets: DeploymentSecrets): Promise<void> {
  const kek = { create: newKek, weakness: findKekWeakness };
  await secrets.keep(['api/totp_secrets_key', 'operator/totp_secrets_key'], kek);
  await secrets.keep(['api/webhook_secrets_key', 'worker/webhook_secrets_key', 'operator/webhook_secrets_key'], kek);
  await secrets.keep(['api/stored_answers_key'], kek);
  await secrets.keep(['api/jwt_private_key'], { create: newEd25519Key, weakness: findEd25519Weakness });
  for (const folder of nodeFolders) await secrets.keep([`${folder}/kek`], kek);
}

async function keepOrders(secrets: DeploymentSecrets): Promise<void> {
  const orderKey = await secrets.keep(['authoriser/order_key'], { create: newEd25519Key, weakness: findEd25519Weakness });
  const jwks = { create: () => toJwks(orderKey), weakness: findJwksWeakness(orderKey), isDerived: true };
  for (const folder of ['authoriser', 'operator', ...nodeFolders]) await secrets.keep([`${folder}/order_keys`], jwks);
  const everywhere = ['operator', ...nodeFolders].map((folder) => `${folder}/deployment_id`);
  await secrets.keep(['authoriser/deployment_id', ...everywhere], { create: randomUUID, weakness: findTextWeakness(8) });
}

async function keepDatabases(secrets: DeploymentSecrets): Promise<void> {
  const keepUrl = (places: readonly [string, ...string[]], login: string, database: string, password = randomPassword()) =>
    secrets.keep(places, {
      create: () => `postgres://${login}:${password}@postgres:5432/${database}`,
      weakness: findUrlWeakness(login, database),
    });
  const password = { create: randomPassword, weakness: findPasswordWeakness };
  const superuser = await secrets.keep(['postgres/password', 'databases/superuser_password'], password);
  await keepUrl(['databases/superuser_url'], superuserLogin, 'postgres', superuser);
  for (const { login, database, file, folder } of databaseLogins)
    await keepUrl([`${folder}/database_url`, `databases/${file}`], login, database);
  const ofTemporal = await secrets.keep(
    ['temporal-schema/password', 'temporal/database_password', `databases/${temporalLogin.file}`],
    password,
  );
  await secrets.keep(['temporal/server.yaml'], {
    create: () => temporalServerConfig(ofTemporal),
    weakness: (content) => (content.includes(ofTemporal) ? null : 'has another password than temporal/database_password'),
    isDerived: true,
  });
}

/** The private keys that the certificates below each authority are for. */
const keysBelow: Readonly<Record<Authority, readonly string[]>> = {
  node: nodeFolders.map((folder) => `${folder}/tls_key`),
  temporal: ['temporal/server_key', 'temporal/system_worker_key', ...temporalClients.map((it) => `${it}/temporal_key`)],
  internode: ['temporal/internode_key'],
};

/** Each authority, and the certificates below it. */
const keepCertificates: Readonly<Record<Authority, (secrets: DeploymentSecrets) => Promise<void>>> = {
  async node(secrets) {
    const authority = await keepAuthority(secrets, 'node', 'custody-gateway signing nodes');
    const certificates: string[] = [];
    for (const name of nodeFolders) {
      const subject = { commonName: name, dns: [name] };
      certificates.push(await keepCertificate(secrets, [`${name}/tls_key`, `${name}/tls_cert`], subject, authority));
      await secrets.keep([`${name}/tls_ca`], sameAs(authority.cert));
    }
    const all = sameAs(`${certificates.join('\n')}\n`.trim());
    for (const folder of [...withNodeCertificates, ...nodeFolders]) await secrets.keep([`${folder}/node_certs`], all);
  },

  async temporal(secrets) {
    const clients = await keepAuthority(secrets, 'temporal', 'custody-gateway Temporal');
    const server = { commonName: temporalServerName, dns: [temporalServerName, 'localhost'], ips: ['127.0.0.1'] };
    await keepCertificate(secrets, ['temporal/server_key', 'temporal/server_cert'], server, clients);
    const systemWorker = { commonName: 'temporal-system-worker' };
    await keepCertificate(secrets, ['temporal/system_worker_key', 'temporal/system_worker_cert'], systemWorker, clients);
    for (const client of temporalClients)
      await keepCertificate(secrets, [`${client}/temporal_key`, `${client}/temporal_cert`], { commonName: client }, clients);
    for (const folder of ['temporal', ...temporalClients]) await secrets.keep([`${folder}/temporal_ca`], sameAs(clients.cert));
  },

  async internode(secrets) {
    const services = await keepAuthority(secrets, 'internode', 'custody-gateway Temporal services');
    const internode = { commonName: internodeServerName, dns: [internodeServerName] };
    await keepCertificate(secrets, ['temporal/internode_key', 'temporal/internode_cert'], internode, services);
    await secrets.keep(['temporal/internode_ca'], sameAs(services.cert));
  },
};

async function keepKeys(secrets: DeploymentSecrets, files: readonly string[]): Promise<void> {
  for (const file of files) await keepKey(secrets, file);
}

const keepKey = (secrets: DeploymentSecrets, file: string): Promise<string> =>
  secrets.keep([file], { create: newCertificateKey, weakness: findCertificateKeyWeakness });

/** Its key stays with the set-up: with it, whoever has it is every node, or every client of Temporal. */
async function keepAuthority(secrets: DeploymentSecrets, name: string, commonName: string): Promise<KeyAndCertificate> {
  const key = await keepKey(secrets, `setup/${name}_ca_key`);
  const cert = await secrets.keep([`setup/${name}_ca_cert`], {
    create: () => certifyAuthority(key, commonName),
    weakness: (content) => findAuthorityProblem({ key, cert: content }),
  });
  return { key, cert };
}

async function keepCertificate(
  secrets: DeploymentSecrets,
  [keyFile, certFile]: readonly [string, string],
  subject: Subject,
  authority: KeyAndCertificate,
): Promise<string> {
  const key = await keepKey(secrets, keyFile);
  return secrets.keep([certFile], {
    create: () => certify(key, subject, authority),
    weakness: (content) => findCertificateProblem({ key, cert: content }, subject, authority.cert),
  });
}

/** A copy, of which only white space may differ. */
function sameAs(expected: string) {
  const words = (text: string): string => text.replace(/\s+/g, '');
  return {
    create: () => expected,
    weakness: (content: string) =>
      words(content) === words(expected) ? null : 'does not have the certificates of this deployment',
    isDerived: true,
  };
}
