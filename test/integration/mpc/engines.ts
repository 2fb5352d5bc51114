import { type FrostSigningRun, ProtocolEngine, ProtocolError, type SigningRun } from '../../../src/mpc/protocol/engine';
import type { RoundMessages } from '../../../src/mpc/protocols';

/** Signs with its real share, but flips a bit of one round's message before it is authenticated and sent. */
export class DishonestEngine extends ProtocolEngine {
  /** 0: none. */
  flipInRound = 0;
  /** Ends the session as soon as the changed message has been sent, while the peer processes it. */
  abortsAtOnce = false;

  override async sign(options: Parameters<ProtocolEngine['sign']>[0]): Promise<SigningRun> {
    const rounds = await super.sign(options);
    let round = 0;
    const flip = (messages: RoundMessages): RoundMessages => {
      round += 1;
      if (round === this.flipInRound) for (const message of messages.values()) message[message.length >> 1]! ^= 1;
      return messages;
    };
    return {
      rounds: rounds.rounds,
      start: async () => flip(await rounds.start()),
      next: async (incoming) => {
        if (this.abortsAtOnce && round === this.flipInRound) throw new ProtocolError('aborted', 'before the verdict');
        const step = await rounds.next(incoming);
        return 'messages' in step ? { messages: flip(step.messages) } : step;
      },
      close: () => rounds.close(),
    };
  }
}

/** What a message of FROST says behind its tag and a hash: a point in round 1, the share itself in round 2 (native/threshold/src/frost/sign.rs). */
export const frostValue = { from: 33, to: 65 } as const;

interface Tamper {
  round: number;
  /** In place. */
  change: (message: Uint8Array) => void;
}

/** The same with FROST: changes a message, or keeps the message of a round to itself. */
export class DishonestFrostEngine extends ProtocolEngine {
  tamper: Tamper | null = null;
  /** 0: none. */
  stallsInRound = 0;
  private hasStalled: () => void = () => undefined;
  /** When it has kept a message. */
  readonly stalled = new Promise<void>((resolve) => (this.hasStalled = resolve));

  override async frostSign(options: Parameters<ProtocolEngine['frostSign']>[0]): Promise<FrostSigningRun> {
    const run = await super.frostSign(options);
    let round = 0;
    const send = (messages: RoundMessages): RoundMessages => {
      round += 1;
      if (round === this.tamper?.round) for (const message of messages.values()) this.tamper.change(message);
      if (round !== this.stallsInRound) return messages;
      this.hasStalled();
      return new Map();
    };
    return {
      rounds: run.rounds,
      start: async () => send(await run.start()),
      next: async (incoming) => {
        const step = await run.next(incoming);
        return 'messages' in step ? { messages: send(step.messages) } : step;
      },
      close: () => run.close(),
    };
  }
}
