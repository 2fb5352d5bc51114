import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { ProtocolError } from './protocol/errors';
import { isRefusal } from './refusal-codes';

/** A new session may succeed. */
export const unavailable = (message: string, options?: { cause: unknown }): GatewayError =>
  new GatewayError('signers_unavailable', message, options);

/** Why a session of this node failed. Refusals keep their code; every other failure becomes signers_unavailable. */
export function toFailure(error: unknown, self: NodeIndex, log: Pick<Logger, 'error'>): GatewayError {
  if (error instanceof GatewayError) return isRefusal(error.code) ? error : unavailable(error.message, { cause: error });
  if (error instanceof ProtocolError) {
    const culprit = error.culprit === undefined ? '' : ` (node ${error.culprit})`;
    return unavailable(`protocol ${error.code}: ${error.message}${culprit}`, { cause: error });
  }
  log.error({ err: error }, 'unexpected error in a session');
  return unavailable(`unexpected error in a session: see the log of node ${self}`, { cause: error });
}
