import { execFileSync } from 'node:child_process';

/** Runs `count` calls, `inFlight` at a time; milliseconds a call. */
export async function load(count: number, inFlight: number, run: () => Promise<unknown>) {
  const times: number[] = [];
  let left = count;
  const began = performance.now();
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const start = performance.now();
      await run();
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return { ...percentiles(times), rate_per_second: round((count * 1000) / (performance.now() - began)) };
}

export function percentiles(times: number[]): { p50: number; p99: number; max: number } {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

export function residentMb(pid: number): number {
  return Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024);
}

export const round = (value: number): number => Math.round(value * 10) / 10;
