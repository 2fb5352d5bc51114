import { percentiles, round } from './load';
import { type Asker, post } from './official';

const warmUp = 50;
/** In each of the rounds both answer as many payments, one facilitator after the other. */
const atOnce = { inFlight: 16, rounds: 3 };

interface Facilitator {
  /** Of its /verify. */
  url: string;
  token?: string;
  /** A new body that it is to find valid. */
  pay: () => Promise<object>;
}

interface Verdict {
  isValid: boolean;
  invalidReason?: string | null;
}

export interface VerifyLoad {
  ours: Facilitator;
  /** The official one. */
  theirs: Facilitator;
  asker: Asker;
  count: number;
}

/**
 * Milliseconds over HTTP, one payment at a time, and verdicts a second at 16 in flight; in turns, so that both meet the same load of the
 * machine. `facts` stand in the line that is printed.
 */
export async function verifyInTurns(facts: object, load: VerifyLoad): Promise<void> {
  const { ours, theirs, count } = load;
  const [own, official]: [number[], number[]] = [[], []];
  for (let index = 0; index < warmUp + count; index += 1) {
    for (const [facilitator, times] of [
      [ours, own],
      [theirs, official],
    ] as const) {
      const body = await facilitator.pay();
      const began = performance.now();
      const { isValid, invalidReason } = await post<Verdict>(facilitator.url, body, facilitator.token);
      expect(isValid ? 'valid' : invalidReason).toBe('valid');
      if (index >= warmUp) times.push(performance.now() - began);
    }
  }
  const [verify_ms, baseline_official_ms] = [percentiles(own), percentiles(official)];
  const ratio = { verify_to_baseline_p50: round(verify_ms.p50 / baseline_official_ms.p50) };
  const line = { bench: 'x402 verify', ...facts, count, baseline_official_ms, verify_ms, ...ratio };
  process.stdout.write(`${JSON.stringify({ ...line, ...(await ratesInTurns(load)) })}\n`);
}

/** Verdicts a second. */
async function ratesInTurns({ ours, theirs, asker, count }: VerifyLoad) {
  const { inFlight, rounds } = atOnce;
  const seconds = [0, 0];
  for (let done = 0; done < rounds; done += 1) {
    for (const [index, { url, token, pay }] of [ours, theirs].entries()) {
      const bodies = await Promise.all(Array.from({ length: count }, pay));
      const answered = await asker.ask({ url, ...(token !== undefined && { token }), inFlight, bodies });
      expect(answered.ok).toBe(count);
      seconds[index] = (seconds[index] ?? 0) + answered.seconds;
    }
  }
  const [rate_per_second, baseline_official_rate] = seconds.map((each) => round((count * rounds) / each));
  return { in_flight: inFlight, baseline_official_rate, rate_per_second };
}
