/** How long this node has run no session: keys for the pool are generated only while nobody waits for another one. */
export class IdleClock {
  private running = 0;
  private endedAt = -Infinity;

  /** A session begins; call what is returned at its end, once. */
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
