import Joi from 'joi';
import { nodeVariables } from './node-variables';
import { tracingVariables } from './tracing-variables';
import { buildId, deploymentName, perMinute, port, secretText, variable } from './variable';

/**
 * The environment variables of all processes with their documentation, from which `npm run env:example` writes `.env.example`. Chain
 * RPC urls (CHAIN_<NAME>_RPC_URLS) are read by src/chains/config.ts, the variables of Temporal (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
 * TEMPORAL_TLS_*, TEMPORAL_API_KEY) by its SDK.
 */
export const variables = {
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
    'api, worker, authoriser, cli',
    Joi.string()
      .uri({ scheme: ['postgres', 'postgresql'] })
      .required(),
    'Postgres of the gateway (not of the MPC nodes), with the login of this process: a member of gateway_api, gateway_worker, gateway_authoriser or gateway_operator (cli), and of nothing else.',
    true,
  ),
  DATABASE_POOL_SIZE: variable(
    'api, worker, authoriser, cli',
    Joi.number().integer().min(2).max(200).default(12),
    'Connections per process, which stay open. Two to four for each core of the server are enough: more make a burst slower. Local activities of the worker are capped to it.',
  ),
  WEBHOOK_SECRETS_KEY: variable(
    'api, worker, cli',
    secretText().required(),
    'Key-encryption key of webhook secrets: 32 bytes in hex. To replace it, put the new key first and the old one after a comma.',
    true,
  ),
  TOTP_SECRETS_KEY: variable(
    'api, cli',
    secretText().required(),
    'Key-encryption key of TOTP secrets, in the same format; another key. The worker does not need it and should not have it.',
    true,
  ),
  GATEWAY_OPERATOR: variable(
    'cli',
    Joi.string().trim().max(200),
    'Name of the operator in the audit log; by default the name of the system user.',
  ),
  TEMPORAL_UI_URL: variable(
    'cli',
    Joi.string().uri({ scheme: ['http', 'https'] }),
    'Address of the Temporal UI, such as http://127.0.0.1:8233: `gateway explain` shows a link to the workflow.',
  ),
  DATABASE_OWNER_URL: variable(
    'cli',
    Joi.string().uri({ scheme: ['postgres', 'postgresql'] }),
    'For `gateway migrate` and `gateway reconcile` alone: the same database, with the login that owns the schema; by default DATABASE_URL.',
    true,
  ),
  CHAINS: variable(
    'api, worker, authoriser, mpc-node, cli',
    Joi.string()
      .pattern(/^[a-z0-9-]+(,[a-z0-9-]+)*$/)
      .required(),
    'Names of the enabled chains, separated by commas, such as ethereum,base.',
  ),
  METRICS_HOST: variable(
    'api, worker, authoriser, mpc-node',
    Joi.string().default('127.0.0.1'),
    'Address of the listener for metrics and detailed health. Clients must not reach it.',
  ),
  METRICS_PORT: variable(
    'api, worker, authoriser, mpc-node',
    port().default(0),
    'Port of the listener for metrics and detailed health; 0 picks a free one.',
  ),
  API_HOST: variable('api', Joi.string().default('127.0.0.1'), 'Address the API listens on.'),
  API_PORT: variable('api', port().default(8080), 'Port the API listens on.'),
  API_TRUST_PROXY: variable(
    'api',
    Joi.boolean().default(false),
    'true behind a proxy that sets X-Forwarded-For itself: the client address is then taken from there.',
  ),
  STORED_ANSWERS_KEY: variable(
    'api',
    secretText().required(),
    'Key-encryption key of stored responses that contain a secret, kept for repeated requests; same format, another key.',
    true,
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
    'Transfers of one chain that are prepared and signed at once. More are accepted and wait for their start; clients take turns. A quarter more is there for clients that have none of them.',
  ),
  MAX_PENDING_STARTS: variable(
    'api, worker',
    Joi.number().integer().min(1).max(10_000_000).default(10_000),
    'Accepted transfers that may wait for their start, without those behind a parked one of their sender; then further ones are answered with 503.',
  ),
  MAX_PENDING_STARTS_PER_CLIENT: variable(
    'api, worker',
    Joi.number().integer().min(1).max(10_000_000).default(2_000),
    'The same for one client, with those behind a parked one.',
  ),
  MAX_KEY_GENERATIONS_IN_FLIGHT: variable(
    'api, worker',
    Joi.number().integer().min(1).max(20).default(3),
    'Wallet keys that are generated at the same time. Clients take turns.',
  ),
  KEY_POOL_SIZE: variable(
    'authoriser, worker',
    Joi.number().integer().min(0).max(16).default(4),
    'Keys that idle signing nodes generate before a wallet wants them (docs/keys.md), the same in both processes. 0: none is generated, and no wallet takes one.',
  ),
  MAX_PENDING_WALLETS: variable(
    'api, worker',
    Joi.number().integer().min(1).max(100_000).default(1_000),
    'Wallets that may wait for their key; further ones are answered with 503.',
  ),
  MAX_PENDING_WALLETS_PER_CLIENT: variable(
    'api, worker',
    Joi.number().integer().min(1).max(100_000).default(100),
    'The same for one client.',
  ),
  APPROVAL_WAIT_SECONDS: variable(
    'api, worker',
    Joi.number().integer().min(1).max(86_400).default(86_400),
    'How long a transfer that somebody has to approve waits for it before it is REJECTED.',
  ),
  X402_SETTLE_WAIT_MS: variable(
    'api',
    Joi.number().integer().min(0).max(70_000).default(20_000),
    'How long POST /x402/settle waits for the chain before it answers settlement_pending.',
  ),
  X402_SETTLE_WAIT_V1_MS: variable(
    'api',
    Joi.number().integer().min(0).max(70_000).default(60_000),
    'The same for callers of version 1 of the protocol, who do not know that answer.',
  ),
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
  TEMPORAL_WORKER_BUILD_ID: variable(
    'worker',
    buildId().optional(),
    'Build of this worker, another one for each release; set together with TEMPORAL_DEPLOYMENT_NAME. A worker of a new build gets no workflows and activities until `gateway temporal set-current`; its periodic jobs run at once.',
  ),
  TEMPORAL_DEPLOYMENT_NAME: variable(
    'worker, cli',
    deploymentName().optional(),
    'Name of the worker deployment that the processes of the worker belong to, such as gateway; not set: workers have no versions (docs/upgrades.md).',
  ),
  ORDER_KEY: variable(
    'authoriser',
    secretText().required(),
    'Ed25519 private key (PKCS#8 PEM or JWK) that signs orders for the signing nodes. No other process has it.',
    true,
  ),
  ORDER_KEYS: variable(
    'authoriser, cli',
    secretText().optional(),
    "JWKS of the authoriser's public keys (Ed25519), 1 to 100 with those of old orders. `gateway orders show` verifies orders with it, `gateway mpc journal verify` those that a node's journal names, and `gateway reconcile` and the authoriser those that signing nodes show; the authoriser knows its own key without it.",
    true,
  ),
  DEPLOYMENT_ID: variable(
    'authoriser, cli',
    Joi.string().min(1).max(100).required(),
    'Name of this deployment in every order: nodes of another deployment refuse them. It never changes. DEPLOYMENT_ID_FILE may name its file.',
    false,
    true,
  ),
  MPC_NODE_PEER_CERTS: variable(
    'api, worker, authoriser, mpc-node, cli',
    secretText().required(),
    'PEM certificates of all three nodes, concatenated: peers are pinned to them, and what nodes sign is verified by them. The cli needs them only for `gateway settlers`, `gateway reconcile`, `gateway wallet bind` and the journals in `gateway orders show`.',
    true,
  ),
  MPC_NODE_FORMER_CERTS: variable(
    'api, worker, authoriser, mpc-node, cli',
    secretText().optional(),
    'PEM certificates that nodes had before their identity was replaced, at most 30, concatenated: what was signed with their keys and kept stays valid (docs/keys.md).',
    true,
  ),
  ...nodeVariables,
  ...tracingVariables,
} as const;
