import { randomBytes } from 'node:crypto';
import type { NodeIndex } from '../../../src/messages/nodes';
import { type FrostSigningRun, type KeygenResult, ProtocolEngine, type SigningRun } from '../../../src/mpc/protocol/engine';
import { getFamily, messageRegistry, orderedMessage } from '../../integration/mpc/message-chain';
import { Group, localRegistry } from '../../integration/mpc/group';
import { orderedTransfer, toRequest } from '../../integration/mpc/transactions';
import { run } from '../../protocol-run';
import { findPostgres, processorMs } from '../postgres-processor';
import { load, percentiles, round } from '../load';

const count = 150;
const warmUp = 50;

/**
 * One after another. Milliseconds; `cpu` is the processor time of this process, with all nodes and threads in it, and `postgres_cpu` that of
 * their Postgres.
 */
async function measure(work: (index: number) => Promise<unknown>) {
  for (let index = 0; index < warmUp; index += 1) await work(index);
  const times: number[] = [];
  const postgres = await findPostgres();
  const postgresBefore = processorMs(postgres);
  const before = process.cpuUsage();
  for (let index = warmUp; index < warmUp + count; index += 1) {
    const began = performance.now();
    await work(index);
    times.push(performance.now() - began);
  }
  const { user, system } = process.cpuUsage(before);
  const postgresMs = processorMs(postgres) - postgresBefore;
  return { ...percentiles(times), cpu: round((user + system) / 1000 / count), postgres_cpu: round(postgresMs / count) };
}

/** How a protocol makes a key and signs 32 bytes or a message. */
interface Bench {
  keygen: (engine: ProtocolEngine, party: NodeIndex, sessionId: Uint8Array) => ReturnType<ProtocolEngine['keygen']>;
  sign: (
    engine: ProtocolEngine,
    session: { sessionId: Uint8Array; party: NodeIndex; peer: NodeIndex; share: Uint8Array },
    signed: Uint8Array,
  ) => Promise<SigningRun | FrostSigningRun>;
  bytes: number;
}

const ecdsa: Bench = {
  keygen: (engine, party, sessionId) => engine.keygen({ sessionId, party }),
  sign: (engine, session, digest) => engine.sign({ ...session, path: 'm/60/0', digest }),
  bytes: 32,
};
const frost: Bench = {
  keygen: (engine, party, sessionId) => engine.frostKeygen({ sessionId, party }),
  sign: (engine, session, message) => engine.frostSign({ ...session, message }),
  // a transfer with its accounts
  bytes: 320,
};

/** The protocol alone: two parties in one process, no network, no database, no order. */
async function measureProtocol(protocol: Bench) {
  const parties: NodeIndex[] = [1, 2, 3];
  const engines = new Map(parties.map((party) => [party, new ProtocolEngine({ maxKeygenSessions: 1, maxSignSessions: 2 })]));
  const engine = (party: NodeIndex) => engines.get(party) as ProtocolEngine;
  const open = async <S>(of: NodeIndex[], session: (party: NodeIndex, sessionId: Uint8Array) => Promise<S>) => {
    const sessionId = randomBytes(32);
    return new Map(await Promise.all(of.map(async (party) => [party, await session(party, sessionId)] as const)));
  };
  const { results } = await run(await open(parties, (party, sessionId) => protocol.keygen(engine(party), party, sessionId)));
  const share = (party: NodeIndex) => (results.get(party) as KeygenResult).share;
  const measured = await measure(async () => {
    const signed = randomBytes(protocol.bytes);
    const sessions = await open([1, 2], (party, sessionId) =>
      protocol.sign(engine(party), { sessionId, party, peer: party === 1 ? 2 : 1, share: share(party) }, signed),
    );
    await run<unknown>(sessions);
    await Promise.all([...sessions.values()].map((session) => session.close()));
  });
  await Promise.all([...engines.values()].map((each) => each.close()));
  return measured;
}

/** What the workflow asks for: order, limits, journals of both nodes, network with mutual TLS. Postgres runs without fsync here. */
async function measureNodes() {
  const group = await Group.create();
  const key = await group.addKey('wallet.1');
  const requests = await Promise.all(
    Array.from({ length: warmUp + count }, (_, nonce) =>
      toRequest(orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce }), 2),
    ),
  );
  const initiator = group.node(1).activities;
  const measured = await measure((index) => initiator.signTransaction(requests[index] as (typeof requests)[number]));
  await group.close();
  return measured;
}

test('a signature of two nodes', async () => {
  const baseline = await measureProtocol(ecdsa);
  const signature = await measureNodes();
  process.stdout.write(
    `${JSON.stringify({
      bench: 'signature',
      count,
      baseline_protocol_ms: baseline,
      signature_ms: signature,
      signature_to_baseline_p50: round(signature.p50 / baseline.p50),
      signature_to_baseline_cpu: round(signature.cpu / baseline.cpu),
    })}\n`,
  );
}, 600_000);

/** One after another, and as many as there are while eight are asked for at a time by all three pairs. */
async function measureFrostNodes() {
  const options = { registry: messageRegistry, getFamily };
  const group = await Group.create({ 1: options, 2: options, 3: options });
  const accountId = '0190b5a4-0000-7000-8000-0000000000a1';
  const key = await group.generateKey(1, `${accountId}.1`, { protocol: 'frost-ed25519', accountId });
  const pairs: [NodeIndex, NodeIndex][] = [
    [1, 2],
    [2, 3],
    [3, 1],
  ];
  const ordered = Array.from({ length: 2 * (warmUp + count) + 10 }, (_, input) => orderedMessage(key, input));
  const requests = await Promise.all(ordered.map((each, at) => toRequest(each, pairs[at % 3]![1])));
  let next = 0;
  const sign = () => {
    const at = next;
    next += 1;
    return group.node(pairs[at % 3]![0]).activities.signTransaction(requests[at] as (typeof requests)[number]);
  };
  const measured = await measure(sign);
  const loaded = await load(warmUp + count, 8, sign);
  await group.close();
  return { measured, loaded };
}

test('an Ed25519 signature of two nodes', async () => {
  const baseline = await measureProtocol(frost);
  const { measured, loaded } = await measureFrostNodes();
  process.stdout.write(
    `${JSON.stringify({
      bench: 'frost_signature',
      count,
      baseline_protocol_ms: baseline,
      signature_ms: measured,
      eight_in_flight: loaded,
    })}\n`,
  );
}, 600_000);
