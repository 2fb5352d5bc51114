import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import pino from 'pino';
import { freePort } from '../../../dev/ports';
import { migrations } from '../../../migrations/mpc-node';
import type { ImpossibilityProver } from '../../../src/chains/chain-client';
import { getFamily } from '../../../src/chains/families';
import type { GetFamily } from '../../../src/chains/family';
import { loadRegistry, type ChainRegistry } from '../../../src/chains/registry';
import type { KeyProtocol } from '../../../src/chains/types';
import { toGroupKey } from '../../../src/mpc/agree-on-key';
import { Identity } from '../../../src/mpc/identity';
import { NodeLimits } from '../../../src/mpc/limits';
import { createMpcNode, type MpcNode } from '../../../src/mpc/node';
import type { ProtocolEngine } from '../../../src/mpc/protocol/engine';
import type { Logger } from '../../../src/platform/logging';
import type { GroupKey, KeyAttestation } from '../../../src/messages/key-generation';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import type { TransactionSignatures } from '../../../src/messages/signing';
import { ShareStore } from '../../../src/mpc/store';
import { OrderVerifier } from '../../../src/mpc/order-verifier';
import { deployment, orderHead, orderKeys, signOrder } from '../../orders';
import { committedKey, readShare } from '../../shares';
import { createGroup, type GroupFiles } from './certificates';
import { client, type OrderedTransfer, toRequest } from './transactions';

export interface NodeDatabase {
  url: string;
  /** A copy of all that it holds. Its node must not run. */
  backUp(): Promise<void>;
  /** Puts the copy in its place: what was committed since is lost. Its node must not run. */
  restore(): Promise<void>;
  drop(): Promise<void>;
}

/** An empty database with a role of its own, as every node has one. */
export async function createNodeDatabase(): Promise<NodeDatabase> {
  const server = process.env.TEST_POSTGRES_URL;
  if (!server) throw new Error('there is no test Postgres: run this test in the jest project `integration`');
  const name = `mpc_${randomBytes(6).toString('hex')}`;
  await sql(server, `create role ${name} login password '${name}'`, `create database ${name} owner ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  url.username = name;
  url.password = name;
  const copy = `${name}_backup`;
  const dropped = (database: string) => `drop database if exists ${database} with (force)`;
  return {
    url: url.toString(),
    backUp: () => sql(server, dropped(copy), `create database ${copy} template ${name} owner ${name}`),
    restore: () => sql(server, dropped(name), `alter database ${copy} rename to ${name}`),
    drop: () => sql(server, dropped(name), dropped(copy), `drop role if exists ${name}`),
  };
}

async function sql(server: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Whose keys they are: `client`, and of this wallet, unless a test says otherwise. */
export const wallet = '0190b5a4-0000-7000-8000-0000000000f1';

export interface NodeOptions {
  registry?: ChainRegistry;
  engine?: ProtocolEngine;
  /** Content of the operator's file. */
  limits?: object;
  /** By chain name: the node's own endpoints. */
  provers?: ReadonlyMap<string, ImpossibilityProver>;
  getFamily?: GetFamily;
  logger?: Logger;
}

interface KeyOptions {
  /** null: of no client yet. */
  clientId?: string | null;
  isBound?: boolean;
  /** ECDSA unless a test says otherwise. */
  protocol?: KeyProtocol;
  /** Of a key that is one account's. */
  accountId?: string;
}

/** Three real nodes in one process: own certificates, ports, databases, keys and threads. No Temporal. */
export class Group {
  readonly nodes = new Map<NodeIndex, MpcNode>();
  private readonly stores = new Map<NodeIndex, ShareStore>();
  /** The first seals. */
  readonly keks = new Map<NodeIndex, Buffer[]>();
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'mpc-group-'));

  private constructor(
    readonly files: GroupFiles,
    readonly ports: Record<NodeIndex, number>,
    readonly databases: Record<NodeIndex, NodeDatabase>,
  ) {
    for (const party of nodeIndexes) this.keks.set(party, [randomBytes(32)]);
  }

  static async create(options: Partial<Record<NodeIndex, NodeOptions>> = {}): Promise<Group> {
    const [files, ports, databases] = await Promise.all([
      createGroup(),
      Promise.all(nodeIndexes.map(() => freePort())),
      Promise.all(nodeIndexes.map(createNodeDatabase)),
    ]);
    const group = new Group(files, byParty(ports), byParty(databases));
    for (const party of nodeIndexes) await group.start(party, options[party]);
    return group;
  }

  node(party: NodeIndex): MpcNode {
    const node = this.nodes.get(party);
    if (!node) throw new Error(`node ${party} is down`);
    return node;
  }

  /** Path of a node's journal mark. */
  markOf(party: NodeIndex): string {
    return path.join(this.folder, `mark-${party}.json`);
  }

  /** Path of a node's limits file. */
  limitsOf(party: NodeIndex): string {
    return path.join(this.folder, `limits-${party}.json`);
  }

  /** As a node does with its operator's file at its start. */
  readLimits(party: NodeIndex, content: object, registry = localRegistry): NodeLimits {
    writeFileSync(this.limitsOf(party), JSON.stringify(content));
    return NodeLimits.read(this.limitsOf(party), { registry, getFamily });
  }

  readMark(party: NodeIndex): unknown {
    return JSON.parse(readFileSync(this.markOf(party), 'utf8'));
  }

  removeMark(party: NodeIndex): void {
    rmSync(this.markOf(party));
  }

  /** Statements in a node's database. */
  async query<R extends object>(party: NodeIndex, statement: string, values: unknown[] = []): Promise<R[]> {
    const database = new Client({ connectionString: this.databases[party].url });
    await database.connect();
    try {
      return (await database.query<R>(statement, values)).rows;
    } finally {
      await database.end();
    }
  }

  /**
   * A key of the shares in test/shares, stored as a generation stores them: generating one takes seconds of CPU time. Every such key has the
   * same public key. Bound to its wallet unless a test wants it otherwise.
   */
  async addKey(keyId: string, { clientId = client, isBound = true }: KeyOptions = {}): Promise<GroupKey> {
    const { publicKey, chainCode } = committedKey;
    for (const [party, store] of this.stores)
      await store.put({ keyId, clientId, protocol: 'ecdsa-secp256k1', publicKey, chainCode, share: readShare(party) });
    if (isBound && clientId !== null) for (const party of nodeIndexes) await this.bindKey(party, keyId, { clientId });
    return toGroupKey(keyId, committedKey);
  }

  /** A new key, bound to its wallet unless a test wants it otherwise. */
  async generateKey(
    initiator: NodeIndex,
    keyId: string,
    { clientId = client, isBound = true, protocol, accountId }: KeyOptions = {},
  ): Promise<GroupKey> {
    const facts = { kind: 'generate_key', key_id: keyId, client_id: clientId, ...(protocol && { protocol }) } as const;
    const order = await signOrder({ ...orderHead(), ...facts });
    const key = await this.node(initiator).activities.generateKey({ order });
    if (isBound && clientId !== null)
      for (const party of nodeIndexes) await this.bindKey(party, keyId, { clientId, ...(accountId && { accountId }) });
    return key;
  }

  async bindKey(
    party: NodeIndex,
    keyId: string,
    { clientId = client, walletId = wallet, accountId }: { clientId?: string; walletId?: string; accountId?: string } = {},
  ): Promise<KeyAttestation> {
    const owner = { wallet_id: walletId, client_id: clientId, ...(accountId && { account_id: accountId }) };
    const facts = { kind: 'bind_key', key_id: keyId, ...owner } as const;
    const bound = await this.node(party).activities.bindKey({ order: await signOrder({ ...orderHead(), ...facts }) });
    return bound.attestation;
  }

  /** A test signature of a key that is not bound yet. */
  async testSign(initiator: NodeIndex, peer: NodeIndex, keyId: string, protocol?: KeyProtocol): Promise<{ verified: true }> {
    const facts = { kind: 'generate_key', key_id: keyId, client_id: client, ...(protocol && { protocol }) } as const;
    const order = await signOrder({ ...orderHead(), ...facts });
    return this.node(initiator).activities.testSign({ order, peer });
  }

  /** What the workflow asks of a pair, under an order of its own. */
  async sign(ordered: OrderedTransfer, initiator: NodeIndex, peer: NodeIndex): Promise<TransactionSignatures> {
    return this.node(initiator).activities.signTransaction(await toRequest(ordered, peer));
  }

  async openStore(party: NodeIndex): Promise<ShareStore> {
    return ShareStore.open({
      url: this.databases[party].url,
      node: party,
      keks: (this.keks.get(party) ?? []).map((kek) => Buffer.from(kek)),
      migrations,
    });
  }

  peersOf(party: NodeIndex): Map<NodeIndex, URL> {
    return new Map(
      nodeIndexes.filter((other) => other !== party).map((other) => [other, new URL(`https://127.0.0.1:${this.ports[other]}`)]),
    );
  }

  async start(
    party: NodeIndex,
    { registry = localRegistry, engine, limits, provers = new Map(), getFamily: families, logger: given }: NodeOptions = {},
  ): Promise<void> {
    const store = await this.openStore(party);
    const logger = given ?? pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent', base: { process: `mpc-node-${party}` } });
    const node = await createMpcNode({
      identity: new Identity(this.files.nodes[party]),
      peers: this.peersOf(party),
      listen: { host: '127.0.0.1', port: this.ports[party] },
      store,
      mark: this.markOf(party),
      limits: limits ? this.readLimits(party, limits, registry) : null,
      registry,
      orders: await OrderVerifier.create({ keys: orderKeys, deployment, logger }),
      provers,
      logger,
      ...(engine ? { engine } : {}),
      ...(families && { getFamily: families }),
    });
    this.nodes.set(party, node);
    this.stores.set(party, store);
  }

  async stop(party: NodeIndex): Promise<void> {
    const node = this.node(party);
    this.nodes.delete(party);
    this.stores.delete(party);
    await node.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.nodes.keys()].map((party) => this.stop(party)));
    await Promise.all(Object.values(this.databases).map((database) => database.drop()));
    rmSync(this.folder, { recursive: true });
  }
}

export const localRegistry = loadRegistry('local', ['ethereum', 'base']);

const byParty = <T>(values: T[]): Record<NodeIndex, T> =>
  Object.fromEntries(values.map((value, at) => [at + 1, value])) as Record<NodeIndex, T>;
