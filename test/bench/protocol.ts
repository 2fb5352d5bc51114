import { randomBytes } from 'node:crypto';
import type { NodeIndex } from '../../src/messages/nodes';
import { type FrostSigningRun, type KeygenResult, ProtocolEngine, type SigningRun } from '../../src/mpc/protocol/engine';
import { run } from '../protocol-run';
import { percentiles, round } from './load';
import { findPostgres, processorMs } from './postgres-processor';

export const count = 150;
export const warmUp = 50;

/**
 * One after another. Milliseconds; `cpu` is the processor time of this process, with all nodes and threads in it, and `postgres_cpu` that of
 * their Postgres.
 */
export async function measure(work: (index: number) => Promise<unknown>) {
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
export interface Bench {
  keygen: (engine: ProtocolEngine, party: NodeIndex, sessionId: Uint8Array) => ReturnType<ProtocolEngine['keygen']>;
  sign: (
    engine: ProtocolEngine,
    session: { sessionId: Uint8Array; party: NodeIndex; peer: NodeIndex; share: Uint8Array },
    signed: Uint8Array,
  ) => Promise<SigningRun | FrostSigningRun>;
  bytes: number;
}

export const ecdsa: Bench = {
  keygen: (engine, party, sessionId) => engine.keygen({ sessionId, party }),
  sign: (engine, session, digest) => engine.sign({ ...session, path: 'm/60/0', digest }),
  bytes: 32,
};
export const frost: Bench = {
  keygen: (engine, party, sessionId) => engine.frostKeygen({ sessionId, party }),
  sign: (engine, session, message) => engine.frostSign({ ...session, message }),
  // a transfer with its accounts
  bytes: 320,
};

/** The protocol alone: two parties in one process, no network, no database, no order. */
export async function measureProtocol(protocol: Bench) {
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
