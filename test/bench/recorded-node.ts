import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** What a recorded node was asked, by method, and how often it had no record; its own processor time. */
interface Asked {
  http_requests: number;
  calls: Record<string, number>;
  bytes: number;
  missed: number;
  processor_ms: number;
}

/** A node in a process of its own that repeats what the one at `url` answers, whose chain stands still. */
export async function startRecordedNode(url: string) {
  const child = spawn(process.execPath, [path.join(__dirname, 'serve-recorded.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write(`${JSON.stringify({ url })}\n`);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const base = `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`;
  return {
    /** At which it answers so much later. */
    urlAt: (awayMs: number) => `${base}/away/${awayMs}`,
    /** Since the last time. */
    asked: async () => (await (await fetch(`${base}/counts`)).json()) as Asked,
    stop: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}
