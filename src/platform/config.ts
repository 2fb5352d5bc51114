import { readFileSync } from 'node:fs';
import Joi from 'joi';

/** Thrown at start for a wrong environment variable; entry points print only the message and exit with 78 (EX_CONFIG). */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

interface Variable<T> {
  schema: Joi.Schema<T>;
  /** One or two sentences for .env.example. */
  doc: string;
  group: string;
  /** May also be given as NAME_FILE, the path of a file that holds the value. */
  secret: boolean;
}

const port = () => Joi.number().port();
const perMinute = () => Joi.number().integer().min(6).max(10_000_000);
const secretText = () => Joi.string().min(1);

function variable<T>(group: string, schema: Joi.Schema<T>, doc: string, secret = false): Variable<T> {
  return { schema, doc, group, secret };
}

/**
 * The environment variables of all processes with their documentation, from which `npm run env:example` writes `.env.example`. Chain
 * RPC urls (CHAIN_<NAME>_RPC_URLS) are read by src/chains/config.ts, the variables of Temporal (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
 * TEMPORAL_TLS_*, TEMPORAL_API_KEY) by its SDK.
 */
const variables = {
  GATEWAY_ENV: variable(
    'all processes',
    Joi.string<'production' | 'sandbox' | 'local'>().valid('production', 'sandbox', 'local').required(),
    'Which profile of the chain registry is used: production, sandbox or local. One deployment is one environment.',
  ),
  LOG_LEVEL: variable(
    'all processes',
    Joi.string<'debug' | 'info' | 'warn' | 'error'>().valid('debug', 'info', 'warn', 'error').default('info'),
    'Lowest level that is logged: debug, info, warn or error.',
  ),
  DATABASE_URL: variable(
    'api, worker, cli',
    Joi.string()
      .uri({ scheme: ['postgres', 'postgresql'] })
      .required(),
    'Postgres of the gateway (not of the MPC nodes).',
    true,
  ),
  DATABASE_POOL_SIZE: variable(
    'api, worker, cli',
    Joi.number().integer().min(2).max(200).default(20),
    'Connections per process. Local activities of the worker are capped to it.',
  ),
  SECRETS_KEY: variable(
    'api, worker, cli',
    secretText().required(),
    'Key-encryption key of TOTP and webhook secrets: 32 bytes in hex. To replace it, put the new key first and the old one after a comma.',
    true,
  ),
  GATEWAY_OPERATOR: variable(
    'cli',
    Joi.string().trim().max(200),
    'Name of the operator in the audit log; by default the name of the system user.',
  ),
  CHAINS: variable(
    'api, worker, mpc-node',
    Joi.string()
      .pattern(/^[a-z0-9]+(,[a-z0-9]+)*$/)
      .required(),
    'Names of the enabled chains, separated by commas, such as ethereum,base.',
  ),
  API_HOST: variable('api', Joi.string().default('127.0.0.1'), 'Address the API listens on.'),
  API_PORT: variable('api', port().default(8080), 'Port the API listens on.'),
  API_TRUST_PROXY: variable(
    'api',
    Joi.boolean().default(false),
    'true behind a proxy that sets X-Forwarded-For itself: the client address is then taken from there.',
  ),
  JWT_PRIVATE_KEY: variable('api', secretText().required(), 'Ed25519 private key (PKCS#8 PEM) that signs access tokens.', true),
  JWT_PUBLIC_KEYS: variable(
    'api',
    Joi.string(),
    'Further Ed25519 public keys (SPKI PEM, concatenated) whose access tokens are accepted while JWT_PRIVATE_KEY is being replaced.',
    true,
  ),
  JWT_ISSUER: variable('api', Joi.string().default('custody-gateway'), '`iss` of access tokens.'),
  JWT_AUDIENCE: variable('api', Joi.string().default('custody-gateway-api'), '`aud` of access tokens.'),
  JWT_TTL_SECONDS: variable('api', Joi.number().integer().min(60).max(3600).default(900), 'Lifetime of access tokens.'),
  MPC_NODE_HEALTH_URLS: variable(
    'api',
    Joi.string().required(),
    'Health endpoints of the three MPC nodes, separated by commas; /health/ready needs two of them.',
  ),
  RATE_LIMIT_CLIENT_PER_MINUTE: variable(
    'api',
    perMinute().default(6_000),
    'Requests of one client per minute, over all API processes; a sixth of them as a burst. The next three variables work in the same way.',
  ),
  RATE_LIMIT_ADDRESS_PER_MINUTE: variable(
    'api',
    perMinute().default(6_000),
    'Requests from one address (IPv6: /64), with or without a token. Behind a proxy without API_TRUST_PROXY all callers have one address.',
  ),
  RATE_LIMIT_TOKEN_PER_MINUTE: variable('api', perMinute().default(300), 'Requests for access tokens from one address.'),
  RATE_LIMIT_MFA_PER_MINUTE: variable(
    'api',
    perMinute().default(300),
    'Requests of one client to endpoints that take an mfa_code.',
  ),
  MAX_REQUESTS_IN_FLIGHT_PER_CLIENT: variable(
    'api',
    Joi.number().integer().min(1).max(100_000).default(200),
    'Concurrent requests of one client in one process; further ones are refused with 429.',
  ),
  MAX_REQUESTS_IN_FLIGHT: variable(
    'api',
    Joi.number().integer().min(1).max(100_000).default(1_000),
    'Concurrent requests in one process; further ones are refused with 503.',
  ),
  MAX_TRANSFERS_IN_FLIGHT: variable(
    'api, worker',
    Joi.number().integer().min(1).max(1_000_000).default(100),
    'Transfers of one chain that are prepared and signed at once. More are accepted and wait for their start, oldest first.',
  ),
  MAX_PENDING_STARTS: variable(
    'api, worker',
    Joi.number().integer().min(1).max(10_000_000).default(10_000),
    'Accepted transfers that may wait for their start; then further ones are answered with 503.',
  ),
  MAX_PENDING_STARTS_PER_CLIENT: variable(
    'api, worker',
    Joi.number().integer().min(1).max(10_000_000).default(2_000),
    'The same for one client.',
  ),
  APPROVAL_WAIT_SECONDS: variable(
    'api, worker',
    Joi.number().integer().min(1).max(86_400).default(86_400),
    'How long a transfer that somebody has to approve waits for it before it is REJECTED.',
  ),
  METRICS_HOST: variable('worker, mpc-node', Joi.string().default('127.0.0.1'), 'Address of the health and metrics listener.'),
  METRICS_PORT: variable('worker, mpc-node', port().default(0), 'Port of the health and metrics listener; 0 picks a free one.'),
  WORKER_CACHED_WORKFLOWS: variable(
    'worker',
    Joi.number().integer().min(10).max(100_000).default(500),
    'Workflows kept in memory between tasks.',
  ),
  WEBHOOK_RETRY_SCHEDULE_SECONDS: variable(
    'worker',
    Joi.string()
      .pattern(/^[1-9]\d{0,5}(,[1-9]\d{0,5}){0,19}$/)
      .default('5,300,1800,7200,18000,36000,50400,72000,86400'),
    'Seconds before each retry of a webhook delivery, separated by commas; after the last one the delivery has failed.',
  ),
  MPC_NODE_INDEX: variable(
    'mpc-node',
    Joi.number<1 | 2 | 3>().valid(1, 2, 3).required(),
    'Which of the three parties this node is: 1, 2 or 3.',
  ),
  MPC_NODE_DATABASE_URL: variable(
    'mpc-node',
    Joi.string()
      .uri({ scheme: ['postgres', 'postgresql'] })
      .required(),
    "This node's own database, with a role of its own.",
    true,
  ),
  MPC_NODE_LISTEN_HOST: variable('mpc-node', Joi.string().default('127.0.0.1'), 'Address the node listens on for its peers.'),
  MPC_NODE_LISTEN_PORT: variable('mpc-node', port().required(), 'Port the node listens on for its peers (mutual TLS).'),
  MPC_NODE_PEERS: variable(
    'mpc-node',
    Joi.string()
      .pattern(/^[123]=https:\/\/[^,]+,[123]=https:\/\/[^,]+$/)
      .required(),
    'The two other nodes: 2=https://host:port,3=https://host:port.',
  ),
  MPC_NODE_TLS_KEY: variable('mpc-node', secretText().required(), "PEM private key (EC P-256) of this node's certificate.", true),
  MPC_NODE_TLS_CERT: variable(
    'mpc-node',
    secretText().required(),
    'PEM certificate of this node, common name mpc-node-<index>.',
    true,
  ),
  MPC_NODE_TLS_CA: variable('mpc-node', secretText().required(), 'PEM certificate of the authority that signed all three.', true),
  MPC_NODE_PEER_CERTS: variable(
    'mpc-node',
    secretText().required(),
    'PEM certificates of all three nodes, concatenated: peers are pinned to them, round messages verified by them.',
    true,
  ),
  MPC_NODE_KEK: variable(
    'mpc-node',
    Joi.string()
      .pattern(/^\s*[0-9a-fA-F]{64}\s*$/)
      .required(),
    'Key-encryption key of the share store: 32 bytes in hex.',
    true,
  ),
  MPC_NODE_JOURNAL_MARK: variable(
    'mpc-node',
    Joi.string().required(),
    'Path of a file that the node writes: what its database must at least contain. On another disk than the database, never restored from a backup.',
  ),
  MPC_NODE_LIMITS: variable(
    'mpc-node',
    Joi.string(),
    "Path of a JSON file with this node's own limits (docs/signing-nodes.md); without it there are none.",
  ),
} as const;

export type VariableName = keyof typeof variables;
type ValueOf<V> = V extends Variable<infer T> ? T : never;
export type Config<K extends VariableName> = { readonly [P in K]: ValueOf<(typeof variables)[P]> };

/**
 * Reads and validates the named variables. Values of secrets are taken from NAME_FILE where that is set.
 * @throws ConfigError naming the variable and what is wrong with it; never its value.
 */
export function readConfig<K extends VariableName>(names: readonly K[], env: NodeJS.ProcessEnv = process.env): Config<K> {
  const config: Partial<Record<VariableName, unknown>> = {};
  for (const name of names) {
    const { schema, secret } = variables[name];
    const result = schema.validate(readVariable(name, { secret }, env), {
      errors: { wrap: { label: false } },
    });
    if (result.error) throw new ConfigError(`${name} ${problemWith(result.error)}`);
    config[name] = result.value;
  }
  return config as Config<K>;
}

/** Description of the error. Joi's own message for a pattern contains the value, which may be a secret. */
function problemWith(error: Joi.ValidationError): string {
  const [detail] = error.details;
  if (!detail || detail.type === 'string.pattern.base') return 'does not have the required form (see .env.example)';
  return detail.message.replace(/^("value"|value) /, '');
}

/**
 * Raw value of a variable, with `secret` also from the file that NAME_FILE names; undefined when it is missing or empty.
 * @throws ConfigError when the file cannot be read.
 */
export function readVariable(name: string, { secret }: { secret: boolean }, env: NodeJS.ProcessEnv): string | undefined {
  const file = secret ? env[`${name}_FILE`] : undefined;
  if (!file) return env[name] === '' ? undefined : env[name];
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}

/** Text of `.env.example`. */
export function environmentExample(): string {
  const lines = ['# Every variable of every process. Secrets can come from files: NAME_FILE=/path instead of NAME=value.'];
  let group = '';
  for (const [name, { doc, group: of, secret, schema }] of Object.entries(variables)) {
    if (of !== group) lines.push('', `## ${of}`);
    group = of;
    const described = schema.describe() as { flags?: { default?: string | number | boolean; presence?: string } };
    const required = described.flags?.presence === 'required';
    lines.push(`# ${doc}${secret ? ' Secret.' : ''}${required ? ' Required.' : ''}`);
    lines.push(`${required ? '' : '#'}${name}=${String(described.flags?.default ?? '')}`);
  }
  lines.push(
    '',
    '## chains (worker)',
    '# RPC endpoints of each enabled chain, separated by commas; the first that answers is used. Required per chain.',
    'CHAIN_ETHEREUM_RPC_URLS=',
    '',
    '## Temporal (api, worker, mpc-node, cli): read by the SDK itself',
    'TEMPORAL_ADDRESS=127.0.0.1:7233',
    '#TEMPORAL_NAMESPACE=default',
    '#TEMPORAL_API_KEY=',
    '#TEMPORAL_TLS=true',
  );
  return `${lines.join('\n')}\n`;
}
