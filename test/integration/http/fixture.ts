import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import type { AccountEntity } from '../../../src/accounts/entity';
import type { AccountKeyGeneration } from '../../../src/accounts/key-generation';
import { ApiKeyEntity } from '../../../src/auth/entity';
import { hashSecret } from '../../../src/auth/service';
import type { TokenOptions } from '../../../src/auth/tokens';
import { getFamily } from '../../../src/chains/families';
import type { PaymentClient } from '../../../src/chains/payments';
import type { SettlementWaits } from '../../../src/x402/settlement/service';
import { type ChainRegistry, loadRegistry } from '../../../src/chains/registry';
import { entities } from '../../../src/entities';
import { createApp } from '../../../src/http/app';
import { RefusalPace } from '../../../src/http/limits/refusal-pace';
import type { LimitSettings } from '../../../src/http/limits/settings';
import { toDocument } from '../../../src/http/openapi/document';
import { listen } from '../../../src/http/server';
import { createResources, type Resources } from '../../../src/processes/resources';
import type { NodeKeys } from '../../../src/mpc/identity';
import { createDatabase } from '../../../src/platform/database';
import { connectAs } from '../../../src/platform/database-login';
import { newId } from '../../../src/platform/ids';
import { createLogger, type Logger } from '../../../src/platform/logging';
import { OutboxDispatcher } from '../../../src/outbox/dispatcher';
import { createSecretBoxes } from '../../../src/processes/secret-boxes';
import { createDeliveries } from '../../../src/processes/workflow-outbox';
import { StartLimits, type StartLimitSettings } from '../../../src/transfers/start/start-limits';
import { countSponsored } from '../../../src/x402/settlement/send-approval';
import type { TransferWorkflows } from '../../../src/transfers/start/workflows';
import { GenerationLimits, type GenerationLimitSettings } from '../../../src/wallets/generation-limits';
import type { KeyGeneration } from '../../../src/wallets/key-generation';
import { type TargetGuard, createTargetGuard } from '../../../src/webhooks/ssrf-guard';
import {
  buildAccount,
  buildAsset,
  buildClient,
  buildUser,
  buildWallet,
  type BuiltWallet,
  fundAccount,
  setFeeLevels,
} from '../../factories';
import { AnswerCheck, type Document, operationAt, readDocument } from '../../openapi';
import { nodeKeys } from '../../node-refusals';
import { createTestLedger, roomyGenerationLimits, roomyStartLimits, type TestLedger } from '../../ledger';
import { createTestDatabase, testConnectTimeoutMs, testStatementTimeoutMs, type TestDatabase } from '../../stack/database';
import { newKeyPair } from '../../keys';

export const registry = loadRegistry('local', ['ethereum', 'base', 'avalanche', 'bsc']);
export const ethereum = registry.get('ethereum');
export const privateKey = newKeyPair('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
export const webhookKey = randomBytes(32).toString('hex');
const newKey = () => randomBytes(32).toString('hex');
export const boxes = createSecretBoxes({
  TOTP_SECRETS_KEY: newKey(),
  WEBHOOK_SECRETS_KEY: webhookKey,
  STORED_ANSWERS_KEY: newKey(),
});
export const roomyLimits: LimitSettings = {
  clientPerMinute: 1e6,
  addressPerMinute: 1e6,
  tokenPerMinute: 1e6,
  mfaPerMinute: 1e6,
  inFlightPerClient: 2_000,
  inFlight: 5_000,
};
export const tokenOptions = { privateKey, issuer: 'test', audience: 'test-api', ttlSeconds: 900 };

export interface Tenant {
  clientId: string;
  userId: string;
  keyId: string;
  apiKey: string;
  apiSecret: string;
  token: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  // loosely typed: each test reads other fields
  body: Record<string, never> & { data: Record<string, never>[]; errors: { field: string; message: string }[] };
  text: string;
}

export interface Call {
  body?: unknown;
  headers?: Record<string, string>;
  tenant?: Tenant | null;
}

/** Replaces Temporal: records its calls, and fails or waits as the test requires. */
export class Workflows implements TransferWorkflows {
  /** Transfers whose workflow was started. */
  started: string[] = [];
  /** Wallets whose key generation was started. */
  keys: string[] = [];
  /** Transfers whose workflow was signalled that they are approved, or have ended. */
  signalled: { approved: string[]; ended: string[] } = { approved: [], ended: [] };
  /** Thrown by the next calls, in order. */
  failures: Error[] = [];
  /** Every call fails. */
  away = false;
  /** The real steps. */
  readonly ledger: TestLedger;

  constructor(database: DataSource) {
    this.ledger = createTestLedger({ database, registry, log: createLogger('test', 'fatal') });
  }

  readonly keyGeneration: KeyGeneration = {
    start: async ({ walletId }) => {
      await this.pass();
      this.keys.push(walletId);
    },
  };

  async start({ txId }: { txId: string }): Promise<'started' | 'closed'> {
    await this.pass();
    this.started.push(txId);
    return 'started';
  }

  async signal(txId: string, news: 'approved' | 'ended'): Promise<'sent' | 'gone'> {
    await this.pass();
    if (!this.started.includes(txId)) return 'gone';
    this.signalled[news].push(txId);
    return 'sent';
  }

  live(): Promise<{ step: string; attempt: number; detail: string } | null> {
    return Promise.resolve({ step: 'signing', attempt: 1, detail: '' });
  }

  private pass(): Promise<void> {
    const failure = this.failures.shift() ?? (this.away ? new Error('the workflow service is away') : undefined);
    return failure ? Promise.reject(failure) : Promise.resolve();
  }
}

export interface Fixture extends Pick<TestDatabase, 'logins'> {
  base: string;
  origin: string;
  port: number;
  /** Superuser. */
  database: DataSource;
  /** What the app uses: the login of the API. */
  apiDatabase: DataSource;
  workflows: Workflows;
  resources: Resources;
  /** Alarms in the log. */
  alerts: Record<string, unknown>[];
  log: Logger;
  /** The client of most tests. */
  demo: Tenant;
  other: Tenant;
  call: (method: string, path: string, call?: Call) => Promise<Answer>;
  /** Runs the worker's dispatcher for messages of any age. */
  dispatch: () => Promise<void>;
  /** The same for messages that are due. */
  dispatchDue: () => Promise<void>;
  close: () => Promise<void>;
}

export interface FixtureOptions {
  tokens?: TokenOptions;
  limits?: Partial<LimitSettings>;
  startLimits?: Partial<StartLimitSettings>;
  generationLimits?: Partial<GenerationLimitSettings>;
  shared?: Fixture;
  poolSize?: number;
  trustProxy?: boolean;
  trustTraceParent?: boolean;
  webhookTargets?: TargetGuard;
  /** By chain name; none unless a test gives some. */
  payments?: ReadonlyMap<string, PaymentClient>;
  /** Chains of a test, and who attests keys there. */
  chains?: ChainRegistry;
  attesting?: NodeKeys;
  /** None unless a test gives one. */
  accountKeyGeneration?: AccountKeyGeneration;
  settleWaitMs?: SettlementWaits;
  /** As fast as can be unless a test gives one. */
  pace?: RefusalPace;
}

/**
 * The whole Koa app on a port and a database of its own, or on that of another fixture (`shared`), whose clients it has. Limits are out of the way
 * unless a test names them.
 */
export async function createFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const {
    tokens = tokenOptions,
    limits = {},
    startLimits = {},
    generationLimits = {},
    poolSize = 10,
    shared,
    trustProxy = true,
    trustTraceParent = false,
    webhookTargets = createTargetGuard('local'),
    payments = new Map<string, PaymentClient>(),
    chains = registry,
    attesting = nodeKeys,
    accountKeyGeneration = { generate: () => Promise.reject(new Error('no account has a key of its own here')) },
    settleWaitMs = { 1: 2_000, 2: 1_000, longest: 8_000 },
    pace = new RefusalPace({ perSecond: 1e6, burst: 1e6 }),
  } = options;
  const test = shared ? { ...shared, drop: () => Promise.resolve() } : withSameLogins(await createTestDatabase({ poolSize }));
  const { database } = test;
  const apiDatabase = shared?.apiDatabase ?? (await connectAsApi(test as TestDatabase, poolSize));
  const workflows = new Workflows(database);
  const alerts: Fixture['alerts'] = [];
  const log = createLogger('test', 'error', {
    write: (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      if (entry['alert'] !== undefined) alerts.push(entry);
    },
  });
  const temporal = { connection: { withDeadline: () => Promise.resolve() } } as unknown as Client;
  const deliveries = createDeliveries({
    database,
    workflows,
    keyGeneration: workflows.keyGeneration,
    starts: new StartLimits({ ...roomyStartLimits, ...startLimits }, countSponsored),
    generations: new GenerationLimits({ ...roomyGenerationLimits, ...generationLimits }),
    log,
  });
  const dispatcher = new OutboxDispatcher(database, deliveries, log);
  const resources = await createResources({
    database: apiDatabase,
    temporal,
    registry: chains,
    getFamily,
    payments,
    keyGeneration: workflows.keyGeneration,
    accountKeyGeneration,
    workflows,
    startLimits: { ...roomyStartLimits, ...startLimits },
    generationLimits: { ...roomyGenerationLimits, ...generationLimits },
    approvalWaitSeconds: 86_400,
    settleWaitMs,
    tokenOptions: tokens,
    signerUrls: [],
    nodeKeys: attesting,
    limits: { ...roomyLimits, ...limits },
    boxes,
    webhookTargets,
    log,
  });
  const server = await listen(
    createApp({ ...resources, log, trustProxy, trustTraceParent, pace, environment: 'local' }),
    '127.0.0.1',
    0,
  );
  const origin = `http://127.0.0.1:${server.port}`;
  const fixture: Omit<Fixture, 'demo' | 'other'> = {
    base: `${origin}/api/v1`,
    origin,
    port: server.port,
    database,
    logins: test.logins,
    apiDatabase,
    workflows,
    resources,
    alerts,
    log,
    call: async (method, path, call = {}) => {
      const answer = await send(`${origin}/api/v1${path}`, method, call.tenant === undefined ? demo : call.tenant, call);
      holdAgainstDocument(resources, method, path, answer);
      return answer;
    },
    dispatch: async () => {
      await resources.outbox.settled();
      await database.query('update workflow_outbox set deliver_after = clock_timestamp()');
      await dispatcher.dispatch();
    },
    dispatchDue: () => dispatcher.dispatch(),
    close: async () => {
      await server.close();
      await resources.outbox.settled();
      if (!shared) await apiDatabase.destroy();
      await test.drop();
    },
  };
  const demo: Tenant = shared?.demo ?? (await buildTenant(fixture));
  return { ...fixture, demo, other: shared?.other ?? (await buildTenant(fixture)) };
}

/** Logins that are made once: made again, their passwords would change under the connections of the API. */
function withSameLogins(test: TestDatabase): TestDatabase {
  let made: ReturnType<TestDatabase['logins']> | undefined;
  return { ...test, logins: () => (made ??= test.logins()) };
}

async function connectAsApi(test: TestDatabase, poolSize: number): Promise<DataSource> {
  const { gateway_api: url } = await test.logins();
  const timeouts = { statementTimeoutMs: testStatementTimeoutMs, connectTimeoutMs: testConnectTimeoutMs };
  return connectAs(createDatabase({ url, poolSize, applicationName: 'test-api', entities, ...timeouts }), 'gateway_api');
}

let described: { document: Document; check: AnswerCheck } | undefined;

/** Checks the answer against the OpenAPI document, which is the same for every fixture. */
function holdAgainstDocument(
  { routes, operational, events, limits }: Resources,
  method: string,
  path: string,
  answer: Answer,
): void {
  if (!described) {
    const document = readDocument(
      toDocument([...limits.guard(routes), ...limits.guardOperational(operational)], { environment: 'local', events }),
    );
    described = { document, check: new AnswerCheck(document) };
  }
  // the second mount is described with the first
  const operation = operationAt(described.document, method, (path.split('?')[0] ?? '').replace(/^\/v1(?=\/client\/)/, ''));
  const isJson = /json/.test(answer.headers.get('content-type') ?? '');
  const complaint = operation && described.check.complaint(operation, { ...answer, body: isJson ? answer.body : answer.text });
  if (complaint) throw new Error(complaint);
}

async function send(url: string, method: string, tenant: Tenant | null, { body, headers = {} }: Call): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(tenant && { Authorization: `Bearer ${tenant.token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (isJson && text ? JSON.parse(text) : {}) as Answer['body'],
  };
}

/** A client with a user, an API key and a token got with it. */
export async function buildTenant({ database, base }: Pick<Fixture, 'database' | 'base'>): Promise<Tenant> {
  const client = await buildClient(database);
  const user = await buildUser(database, client);
  const [keyId, apiKey, apiSecret] = [newId(), `key_${newId()}`, randomBytes(32).toString('base64url')];
  await database.manager.insert(ApiKeyEntity, {
    keyId,
    clientId: client.clientId,
    userId: user.userId,
    apiKey,
    secretHash: hashSecret(apiSecret),
  });
  const { status, body } = await send(`${base}/auth/token`, 'POST', null, {
    headers: { 'X-API-Key': apiKey, 'X-API-Secret': apiSecret },
  });
  if (status !== 200) throw new Error(`no token: ${status} ${JSON.stringify(body)}`);
  return { clientId: client.clientId, userId: user.userId, keyId, apiKey, apiSecret, token: String(body['token']) };
}

export interface Funded {
  wallet: BuiltWallet;
  account: AccountEntity;
}

/** An ACTIVE wallet with an account that has added ETH and USDC and holds 10 and 1000 of them. */
export async function buildFunded({ database }: Fixture, { clientId }: Tenant): Promise<Funded> {
  const wallet = await buildWallet(database, { clientId } as never);
  const account = await buildAccount(database, wallet, ethereum);
  await setFeeLevels(database, ethereum);
  await buildAsset(database, account, ethereum, 'ETH');
  await buildAsset(database, account, ethereum, 'USDC');
  await fundAccount(database, account, ethereum, 'ETH', 10n * 10n ** 18n);
  await fundAccount(database, account, ethereum, 'USDC', 1000n * 10n ** 6n);
  return { wallet, account };
}

/** Asserts an RFC 9457 answer with this status and code. */
export function expectProblem(answer: Answer, status: number, code: string, field?: string): void {
  expect({ status: answer.status, code: answer.body['code'], body: answer.text }).toEqual({ status, code, body: answer.text });
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer.body).toMatchObject({
    type: `urn:custody-gateway:problem:${code}`,
    title: expect.any(String),
    status,
    detail: expect.any(String),
    instance: expect.stringMatching(/^\//),
    request_id: answer.headers.get('x-request-id'),
  });
  if (field !== undefined) expect(answer.body.errors.map((error) => error.field)).toContain(field);
  expect(answer.text).not.toMatch(/select |insert |\bat .*\.ts|postgres|ECONN/i);
}
