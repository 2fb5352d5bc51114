/** When this node has signed last: keys are generated ahead only while nobody waits for a signature. */
export class SigningClock {
  private running = 0;
  private endedAt = -Infinity;

  /** A session that signs a transaction begins; call what is returned at its end, once. */
  begin(): () => void {
    this.running += 1;
    return () => {
      this.running -= 1;
      this.endedAt = performance.now();
    };
  }

  /** Milliseconds since the last session has ended; 0 while one runs. */
  get idleMs(): number {
    return this.running > 0 ? 0 : performance.now() - this.endedAt;
  }
}
