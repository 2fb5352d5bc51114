import { randomBytes } from 'node:crypto';
import type { NodeIndex } from '../../../src/messages/nodes';
import { type KeygenResult, ProtocolEngine } from '../../../src/mpc/protocol/engine';
import { Group, localRegistry } from '../../integration/mpc/group';
import { orderedTransfer, toRequest } from '../../integration/mpc/transactions';
import { run } from '../../protocol-run';
import { findPostgres, processorMs } from '../postgres-processor';
import { percentiles, round } from '../load';

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

/** The protocol alone: two parties in one process, no network, no database, no order. */
async function measureProtocol() {
  const parties: NodeIndex[] = [1, 2, 3];
  const engines = new Map(parties.map((party) => [party, new ProtocolEngine({ maxKeygenSessions: 1, maxSignSessions: 2 })]));
  const engine = (party: NodeIndex) => engines.get(party) as ProtocolEngine;
  const open = async <S>(of: NodeIndex[], session: (party: NodeIndex, sessionId: Uint8Array) => Promise<S>) => {
    const sessionId = randomBytes(32);
    return new Map(await Promise.all(of.map(async (party) => [party, await session(party, sessionId)] as const)));
  };
  const { results } = await run(await open(parties, (party, sessionId) => engine(party).keygen({ sessionId, party })));
  const share = (party: NodeIndex) => (results.get(party) as KeygenResult).share;
  const measured = await measure(async () => {
    const digest = randomBytes(32);
    const sessions = await open([1, 2], (party, sessionId) =>
      engine(party).sign({ sessionId, party, peer: party === 1 ? 2 : 1, share: share(party), path: 'm/60/0', digest }),
    );
    await run(sessions);
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
  const baseline = await measureProtocol();
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
