/** How often the event loop is looked at. */
const checkMs = 100;
/** Shorter delays are the scheduling of a busy machine. */
const countedMs = 250;

/**
 * Measures how long the event loop of this process did not run. Meanwhile time-outs pass although the messages that they wait for have
 * arrived, and peers wait for this node's.
 */
export class StallClock {
  private stalledMs = 0;
  private checkedAt = performance.now();
  private readonly timer = setInterval(() => this.check(), checkMs).unref();

  /** Milliseconds of all stalls up to now. */
  get totalMs(): number {
    this.check();
    return this.stalledMs;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private check(): void {
    const now = performance.now();
    const late = now - this.checkedAt - checkMs;
    this.checkedAt = now;
    if (late >= countedMs) this.stalledMs += late;
  }
}
