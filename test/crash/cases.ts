import { setTimeout as delay } from 'node:timers/promises';
import { processIdentity } from '../../dev/processes';
import { transactionWhen, type Account } from '../e2e/support';
import { stack, waitFor } from '../stack/client';
import { pause, resumeAll } from '../stack/pause';
import { Holds, type Step } from './holds';
import type { Submission } from './submit';
import { transferThrough, type Send } from './transfer';

export type Victim = 'api' | 'worker' | 'authoriser' | 'mpc' | 'all';
export const victims: Victim[] = ['api', 'worker', 'authoriser', 'mpc', 'all'];

/** Kills -9 what the supervisor will start again; of the nodes one, since two of three must go on. */
function kill(victim: Victim): void {
  const { api: apis = [], worker = [], authoriser = [], mpc = [] } = stack().processes;
  const node = mpc.slice(0, 1);
  const of = { api: apis, worker, authoriser, mpc: node, all: [...apis, ...worker, ...authoriser, ...node] };
  for (const pid of of[victim]) process.kill(pid, 'SIGKILL');
}

/** Steps that write nothing to hold: the part they ask is paused instead. */
const paused = {
  start: { part: 'temporal', reached: 'PENDING' },
  lock: { part: 'worker', reached: 'PENDING' },
  prepare: { part: 'chain:ethereum', reached: 'PENDING' },
  authorise: { part: 'authoriser', reached: 'PENDING' },
  sign: { part: 'mpc', reached: 'SIGNING' },
  broadcast: { part: 'chain:ethereum', reached: 'SIGNING' },
} as const;
export type Point = Step | keyof typeof paused;
/** In the order of a transfer. */
export const points: Point[] = [
  'accept',
  'commit',
  'start',
  'lock',
  'prepare',
  'authorise',
  'beginSigning',
  'sign',
  'persistSignature',
  'broadcast',
  'recordBroadcast',
  'submitted',
  'recordInclusion',
  'settle',
];

/** One transfer, `victim` killed while the given step is about to be done. */
export async function crashAt(point: Point, victim: Victim, account: Account): Promise<void> {
  // what the case before has killed is started again, but not at once
  await waitFor(() =>
    Object.values(stack().processes)
      .flat()
      .every((pid) => processIdentity(pid) !== null),
  );
  const holds = await Holds.install(stack().postgres.url);
  try {
    await transferThrough(account, (send) =>
      point in paused
        ? killPaused(point as keyof typeof paused, victim, holds, send)
        : killHeld(point as Step, victim, holds, send),
    );
  } finally {
    await holds.remove();
  }
}

/** Kills while the step's write waits in the database. */
async function killHeld(step: Step, victim: Victim, holds: Holds, send: Send): Promise<Submission> {
  await holds.hold(step);
  const submission = send();
  await holds.reached(step, 60_000);
  kill(victim);
  await delay(300);
  await holds.release(step);
  return submission;
}

/** Kills while the part that the step asks does not answer. */
async function killPaused(point: keyof typeof paused, victim: Victim, holds: Holds, send: Send): Promise<Submission> {
  const { part, reached } = paused[point];
  try {
    // the signature comes before the broadcast: the chain is paused once there is one
    const first = point === 'broadcast' ? 'persistSignature' : undefined;
    if (first) await holds.hold(first);
    else pause(part);
    const submission = send();
    if (first) {
      await holds.reached(first, 60_000);
      pause(part);
      await holds.release(first);
    }
    await transactionWhen((await submission).txId, [reached], 30_000);
    await delay(700);
    kill(victim);
    await delay(300);
    return submission;
  } finally {
    resumeAll();
  }
}
