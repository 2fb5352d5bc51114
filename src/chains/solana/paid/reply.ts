import { NoAnswer } from '../../no-answer';
import { RpcError } from '../rpc';
import { type Asked, type PaidBlock, readPaidBlock } from './read';

/** What a thread is given. */
export interface Question {
  bytes: Uint8Array;
  asked: Asked;
}

/** What a thread answers: errors lose their class on the way to another one. */
export type Reply =
  | { block: PaidBlock | null }
  | { refusal: Pick<RpcError, 'code' | 'data' | 'nodeMessage'> }
  | { noAnswer: string }
  | { error: string };

/** As `readPaidBlock`, whose errors are a part of the reply. */
export function toReply({ bytes, asked }: Question): Reply {
  try {
    return { block: readPaidBlock(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), asked) };
  } catch (error) {
    if (error instanceof RpcError) {
      const { code, data, nodeMessage } = error;
      return { refusal: { code, data, nodeMessage } };
    }
    const { message } = error as Error;
    return error instanceof NoAnswer ? { noAnswer: message } : { error: message };
  }
}

/** @throws what `readPaidBlock` has thrown */
export function readReply(reply: Reply): PaidBlock | null {
  if ('block' in reply) return reply.block;
  if ('refusal' in reply) throw new RpcError(reply.refusal.code, reply.refusal.data, reply.refusal.nodeMessage);
  throw 'noAnswer' in reply ? new NoAnswer(reply.noAnswer) : new Error(reply.error);
}
