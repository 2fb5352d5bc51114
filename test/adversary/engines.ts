import { ProtocolEngine, type SigningRun } from '../../src/mpc/protocol/engine';

/** Signs with its real share, but keeps its last message to itself: it has the signature, and its peer does not. */
export class WithholdingEngine extends ProtocolEngine {
  isWithholding = false;

  override async sign(options: Parameters<ProtocolEngine['sign']>[0]): Promise<SigningRun> {
    const run = await super.sign(options);
    let round = 1;
    return {
      rounds: run.rounds,
      start: () => run.start(),
      next: async (incoming) => {
        const step = await run.next(incoming);
        round += 1;
        const isLast = round === run.rounds;
        return this.isWithholding && isLast && 'messages' in step ? { messages: new Map() } : step;
      },
      close: () => run.close(),
    };
  }
}
