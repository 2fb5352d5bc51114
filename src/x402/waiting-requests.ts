/** Requests that wait, of one process; far fewer than it may have in flight (MAX_REQUESTS_IN_FLIGHT). */
const maxWaiting = 400;
/** Of one client: others find room whatever it does, and so do its own requests that do not wait. */
const maxWaitingPerClient = 100;

/** Counts requests that wait: such requests use up what the process can answer at a time. */
export class WaitingRequests {
  private readonly byClient = new Map<string, number>();

  /** Undefined when too many of all clients or of this one wait; otherwise the function that ends this wait. */
  enter(clientId: string): (() => void) | undefined {
    const own = this.byClient.get(clientId) ?? 0;
    const all = [...this.byClient.values()].reduce((sum, count) => sum + count, 0);
    if (all >= maxWaiting || own >= maxWaitingPerClient) return undefined;
    this.byClient.set(clientId, own + 1);
    return () => {
      const left = (this.byClient.get(clientId) ?? 1) - 1;
      if (left > 0) this.byClient.set(clientId, left);
      else this.byClient.delete(clientId);
    };
  }
}
