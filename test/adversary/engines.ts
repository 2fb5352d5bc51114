import { type FrostSigningRun, ProtocolEngine, type SigningRun, type SignResult } from '../../src/mpc/protocol/engine';
import type { ProtocolRun, RoundMessages } from '../../src/mpc/protocols';
import { frostValue } from '../integration/mpc/engines';

/** Which bit of which round's message is flipped, so that its recipient finds it. */
interface Spoilt<R> {
  round: number;
  at: (message: Uint8Array) => number;
  /** What it makes of its own result: a node answers with a signature that it has, when it is asked again. */
  toResult: (result: R) => R;
}

const ofEcdsa: Spoilt<SignResult> = { round: 1, at: (message) => message.length >> 1, toResult: (signature) => signature };
/** In the share of the signature. */
const ofFrost: Spoilt<Uint8Array> = { round: 2, at: () => frostValue.from, toResult: (signature) => signature.fill(0) };

/** Signs with its real share, and cheats as long as a test has it do so. */
export class CheatingEngine extends ProtocolEngine {
  /** `withholds`: it keeps its last message to itself, and has the signature alone. `spoils`: it changes a message before that is authenticated. */
  cheats: 'withholds' | 'spoils' | null = null;

  override async sign(options: Parameters<ProtocolEngine['sign']>[0]): Promise<SigningRun> {
    return this.cheatIn(await super.sign(options), ofEcdsa);
  }

  override async frostSign(options: Parameters<ProtocolEngine['frostSign']>[0]): Promise<FrostSigningRun> {
    return this.cheatIn(await super.frostSign(options), ofFrost);
  }

  private cheatIn<R>(run: ProtocolRun<R>, spoilt: Spoilt<R>): ProtocolRun<R> {
    let round = 0;
    const send = (messages: RoundMessages): RoundMessages => {
      round += 1;
      if (this.cheats === 'withholds' && round === run.rounds) return new Map();
      if (this.cheats === 'spoils' && round === spoilt.round)
        for (const message of messages.values()) message[spoilt.at(message)]! ^= 1;
      return messages;
    };
    return {
      rounds: run.rounds,
      start: async () => send(await run.start()),
      next: async (incoming) => {
        const step = await run.next(incoming);
        if ('messages' in step) return { messages: send(step.messages) };
        return this.cheats === 'spoils' ? { result: spoilt.toResult(step.result) } : step;
      },
      close: () => run.close(),
    };
  }
}
