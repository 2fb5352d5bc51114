import path from 'node:path';
import { rpcUrlsVariable } from '../src/chains/config';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { jwtKey, nodeCredentials, orderCredentials, secretsKey } from './credentials';
import { getOrCreateSecret } from './files';
import type { LoginUrls } from './logins';
import { nodeLimits } from './node-limits';
import type { ServicesContext } from './services';
import { projectRoot } from './paths';
import { freePort } from './ports';
import { randomPassword } from '../src/cli/setup/new-secrets';
import { createDatabaseWithRole } from './postgres';
import type { StackChain } from './stack-file';
import type { ProcessSpec } from './supervisor';

/** Addresses of the other services, for the gateway's processes. */
export interface StackEnvironment {
  /** The gateway's database, with the login of each process. */
  databaseUrls: LoginUrls;
  /** Superuser of the embedded Postgres; null when all databases are external. */
  superuserUrl: string | null;
  temporalAddress: string;
  chains: Record<string, StackChain>;
}

/** Creates the gateway's database with its owner, which runs the migrations. */
export function gatewayDatabase({ paths }: ServicesContext, superuserUrl: string): Promise<string> {
  const role = 'gateway_owner';
  const password = getOrCreateSecret(paths.secrets, `postgres-${role}`, randomPassword);
  return createDatabaseWithRole(superuserUrl, 'gateway', { role, password, createsRoles: true });
}

/** True when the MPC nodes are external. */
export const hasExternalNodes = (env: NodeJS.ProcessEnv): boolean => Boolean(env.MPC_NODE_HEALTH_URLS);

/** Metrics and health share a listener. */
const metricsAt = (port: number) => ({ METRICS_HOST: '127.0.0.1', METRICS_PORT: String(port) });
const healthAt = (port: number): string => `http://127.0.0.1:${port}/health/ready`;

/** The three MPC nodes; each with its own database, role, certificate and key-encryption key. */
export async function nodeSpecs(
  context: ServicesContext,
  environment: StackEnvironment,
): Promise<{ specs: ProcessSpec[]; healthUrls: string[] }> {
  const { paths, env } = context;
  const credentials = await nodeCredentials(paths.secrets);
  const limits = nodeLimits(paths.nodes, Object.keys(environment.chains));
  const orders = orderCredentials(paths.secrets);
  const ports = new Map<NodeIndex, { peer: number; health: number }>();
  for (const index of nodeIndexes) ports.set(index, { peer: await freePort(), health: await freePort() });
  const getPorts = (index: NodeIndex) => ports.get(index) ?? { peer: 0, health: 0 };
  const healthUrl = (index: NodeIndex) => healthAt(getPorts(index).health);

  const specs = await Promise.all(
    nodeIndexes.map(async (index) => {
      const own = credentials[index];
      const variables = {
        MPC_NODE_INDEX: String(index),
        MPC_NODE_DATABASE_URL: await nodeDatabase(context, environment, index),
        MPC_NODE_LISTEN_HOST: '127.0.0.1',
        MPC_NODE_LISTEN_PORT: String(getPorts(index).peer),
        MPC_NODE_PEERS: nodeIndexes
          .filter((peer) => peer !== index)
          .map((peer) => `${peer}=https://127.0.0.1:${getPorts(peer).peer}`)
          .join(','),
        MPC_NODE_TLS_KEY_FILE: own.key,
        MPC_NODE_TLS_CERT_FILE: own.cert,
        MPC_NODE_TLS_CA_FILE: own.ca,
        MPC_NODE_PEER_CERTS_FILE: own.peerCerts,
        MPC_NODE_KEK_FILE: own.kek,
        MPC_NODE_JOURNAL_MARK: path.join(paths.nodes, `journal-mark-${index}.json`),
        MPC_NODE_LIMITS: limits,
        MPC_NODE_ORDER_KEYS_FILE: orders.jwks,
        MPC_NODE_DEPLOYMENT: orders.deployment,
        ...metricsAt(getPorts(index).health),
      };
      return nodeProcess(
        { name: `mpc-node-${index}`, group: 'mpc', entry: 'mpc-node', healthUrl: healthUrl(index) },
        { ...commonVariables(env, environment), ...variables },
      );
    }),
  );
  return { specs, healthUrls: nodeIndexes.map(healthUrl) };
}

export async function workerSpec({ env, paths }: ServicesContext, environment: StackEnvironment): Promise<ProcessSpec> {
  const port = await freePort();
  const nodes = await nodeCredentials(paths.secrets);
  const variables = {
    DATABASE_URL: environment.databaseUrls.gateway_worker,
    MPC_NODE_PEER_CERTS_FILE: nodes[1].peerCerts,
    WEBHOOK_SECRETS_KEY_FILE: secretsKey(paths.secrets, 'WEBHOOK_SECRETS_KEY'),
    ...metricsAt(port),
  };
  const healthUrl = healthAt(port);
  return nodeProcess(
    { name: 'worker', group: 'worker', entry: 'worker', healthUrl },
    { ...startLimits, ...keyPool, ...commonVariables(env, environment), ...variables },
  );
}

/** The only process that has the order key. */
export async function authoriserSpec({ env, paths }: ServicesContext, environment: StackEnvironment): Promise<ProcessSpec> {
  const port = await freePort();
  const { key, deployment } = orderCredentials(paths.secrets);
  const nodes = await nodeCredentials(paths.secrets);
  const variables = {
    DATABASE_URL: environment.databaseUrls.gateway_authoriser,
    ORDER_KEY_FILE: key,
    DEPLOYMENT_ID: deployment,
    MPC_NODE_PEER_CERTS_FILE: nodes[1].peerCerts,
    ...metricsAt(port),
  };
  const healthUrl = healthAt(port);
  return nodeProcess(
    { name: 'authoriser', group: 'authoriser', entry: 'authoriser', healthUrl },
    { ...keyPool, ...commonVariables(env, environment), ...variables },
  );
}

/** All parts share the machine: fewer transfers at once leave room for accepting. The caller's environment has priority. */
const startLimits = { MAX_TRANSFERS_IN_FLIGHT: '8' };

/** Each key of the pool takes all three nodes some seconds. The caller's environment has priority. */
const keyPool = { KEY_POOL_SIZE: '2' };

/** On one machine all clients have the same address, and tests send many requests. The caller's environment has priority. */
const relaxedLimits = {
  RATE_LIMIT_CLIENT_PER_MINUTE: '600000',
  RATE_LIMIT_ADDRESS_PER_MINUTE: '600000',
  RATE_LIMIT_TOKEN_PER_MINUTE: '60000',
  RATE_LIMIT_MFA_PER_MINUTE: '60000',
  MAX_PENDING_WALLETS_PER_CLIENT: '1000',
  MAX_REQUESTS_IN_FLIGHT_PER_CLIENT: '2000',
  MAX_REQUESTS_IN_FLIGHT: '5000',
};

export async function apiSpec({ env, paths, preferred }: ServicesContext, environment: StackEnvironment, healthUrls: string[]) {
  const nodes = await nodeCredentials(paths.secrets);
  const port = await freePort(preferred(Number(env.API_PORT) || 8080));
  const metricsPort = await freePort();
  const variables = {
    DATABASE_URL: environment.databaseUrls.gateway_api,
    API_HOST: '127.0.0.1',
    API_PORT: String(port),
    ...metricsAt(metricsPort),
    JWT_PRIVATE_KEY_FILE: jwtKey(paths.secrets),
    TOTP_SECRETS_KEY_FILE: secretsKey(paths.secrets, 'TOTP_SECRETS_KEY'),
    WEBHOOK_SECRETS_KEY_FILE: secretsKey(paths.secrets, 'WEBHOOK_SECRETS_KEY'),
    STORED_ANSWERS_KEY_FILE: secretsKey(paths.secrets, 'STORED_ANSWERS_KEY'),
    MPC_NODE_PEER_CERTS_FILE: nodes[1].peerCerts,
    MPC_NODE_HEALTH_URLS: env.MPC_NODE_HEALTH_URLS ?? healthUrls.join(','),
  };
  const baseUrl = `http://127.0.0.1:${port}/api/v1`;
  const healthUrl = healthAt(metricsPort);
  const spec = nodeProcess(
    { name: 'api', group: 'api', entry: 'api', healthUrl },
    { ...startLimits, ...relaxedLimits, ...commonVariables(env, environment), ...variables },
  );
  return { spec, baseUrl, healthUrl };
}

async function nodeDatabase(
  { env, paths }: ServicesContext,
  { superuserUrl }: StackEnvironment,
  index: NodeIndex,
): Promise<string> {
  const given = env[`MPC_NODE_${index}_DATABASE_URL`];
  if (given) return given;
  if (!superuserUrl) throw new Error(`MPC_NODE_${index}_DATABASE_URL is missing`);
  const name = `gateway_mpc_${index}`;
  return createDatabaseWithRole(superuserUrl, name, {
    password: getOrCreateSecret(paths.secrets, `postgres-${name}`, randomPassword),
  });
}

/** Variables of every process of the gateway: the caller's environment with the addresses of the stack. */
function commonVariables(env: NodeJS.ProcessEnv, { temporalAddress, chains }: StackEnvironment): NodeJS.ProcessEnv {
  const excluded =
    /^(npm_|JEST_|NODE_ENV$|DATABASE_(OWNER_)?URL|JWT_P(RIVATE|UBLIC)_KEY|(TOTP|WEBHOOK)_SECRETS_KEY|STORED_ANSWERS_KEY|ORDER_KEY|DEPLOYMENT_ID|MPC_NODE_|METRICS_|TEST_POSTGRES)/;
  const inherited = Object.fromEntries(Object.entries(env).filter(([name]) => !excluded.test(name)));
  const rpcUrls = Object.entries(chains).map(([name, { rpc, gateway_rpc: own = rpc }]) => [
    rpcUrlsVariable(name),
    env[rpcUrlsVariable(name)] || own,
  ]);
  return {
    ...inherited,
    GATEWAY_ENV: 'local',
    CHAINS: Object.keys(chains).join(','),
    TEMPORAL_ADDRESS: temporalAddress,
    ...(Object.fromEntries(rpcUrls) as NodeJS.ProcessEnv),
  };
}

function nodeProcess(
  what: { name: string; group: string; entry: string; healthUrl: string },
  env: NodeJS.ProcessEnv,
): ProcessSpec {
  const entryPoint = path.join(projectRoot, 'dist', 'src', 'processes', `${what.entry}.js`);
  return {
    name: what.name,
    group: what.group,
    command: () => ({ command: process.execPath, args: ['--enable-source-maps', entryPoint], env, cwd: projectRoot }),
    ready: () => isHealthy(what.healthUrl),
    // a busy machine: the API waits for the worker, which reads the chains, and for the authoriser, which compares the orders
    readyTimeoutMs: 180_000,
    stopTimeoutMs: 15_000,
    // clients wait for the API only
    background: what.entry !== 'api',
  };
}

/** @throws Error with the response of a process that is not ready */
async function isHealthy(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(3_000) });
  const text = await answer.text();
  // a stack that is ready carries out transfers: what is a detail of the API's readiness is waited for too
  if (answer.ok && !text.includes(':false')) return true;
  throw new Error(`${url} answers ${answer.status} ${text.slice(0, 300)}`);
}
