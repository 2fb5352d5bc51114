/** Thread entry: reads one block after another for threads.ts. */
import os from 'node:os';
import { parentPort } from 'node:worker_threads';
import { type Question, toReply } from './reply';

/** Added to the nice value of the process: transfers need its main thread, and a deposit that is found a little later harms nobody. */
const nicer = 5;

try {
  // on Linux 0 is the calling thread, elsewhere the whole process
  if (process.platform === 'linux') os.setPriority(0, Math.min(os.getPriority(0) + nicer, 19));
} catch {
  // a sandbox may forbid it: blocks are read all the same
}

const port = parentPort;
port?.on('message', (question: Question) => port.postMessage(toReply(question)));
