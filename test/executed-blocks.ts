import { Session } from 'node:inspector';

interface Coverage {
  result: { functions: { ranges: { count: number }[] }[] }[];
}

/**
 * How often functions, and blocks within them, are executed in this process, as V8 counts them for coverage: those of packages and of Node
 * itself too. A measure of work that no clock and no other load changes. What native code does (JSON.parse, a regular expression) counts as
 * one call.
 */
export class ExecutedBlocks {
  private readonly session = new Session();

  constructor() {
    this.session.connect();
    this.post('Profiler.enable');
    this.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** While it runs, whoever's they are. */
  async during(run: () => Promise<unknown>): Promise<number> {
    // the counts begin anew
    this.take();
    await run();
    const { result } = this.take();
    const ranges = result.flatMap(({ functions }) => functions.flatMap((fn) => fn.ranges));
    return ranges.reduce((sum, { count }) => sum + count, 0);
  }

  stop(): void {
    this.post('Profiler.stopPreciseCoverage');
    this.session.disconnect();
  }

  private take(): Coverage {
    return this.post('Profiler.takePreciseCoverage') as Coverage;
  }

  /** Answered before it returns. */
  private post(method: string, params: object = {}): unknown {
    let answer: unknown;
    this.session.post(method, params, (error, result) => {
      if (error) throw error;
      answer = result;
    });
    return answer;
  }
}
