import { spawn } from 'node:child_process';
import path from 'node:path';
import { deployCache } from './buildah';

const waitSeconds = 30 * 60;
const sayAfterMs = 2_000;

/**
 * Waits until no other run uses the images and containers of the cache. The lock is released when this process ends, however it does: flock(1)
 * holds it for a program that ends with the pipe to this one. @throws Error when another run takes too long
 */
export function lockCache(): Promise<void> {
  const holder = spawn('flock', ['--wait', String(waitSeconds), path.join(deployCache, 'lock'), 'sh', '-c', 'echo held; cat'], {
    // signals to the group of this process are not for it
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const notice = setTimeout(() => console.log('another run is at work: waiting for its end'), sayAfterMs);
  return new Promise<void>((resolve, reject) => {
    holder.once('error', reject);
    holder.stdout.once('data', () => resolve());
    holder.once('exit', () => reject(new Error(`another run has not ended within ${waitSeconds / 60} minutes`)));
  }).finally(() => clearTimeout(notice));
}
