import { decodeJwt } from 'jose';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { printable } from '../platform/printable';
import { nodeRefusals } from './metrics';
import { isRefusal } from './refusal-codes';
import type { RefusedRequests } from './refused-requests';

interface Asked {
  /** `peer`: another node asks; `initiator`: Temporal does. */
  role: 'initiator' | 'peer';
  /** What the node is asked to do. */
  act: string;
  /** The other node of the session, where there is one. */
  peer?: unknown;
  /** As it was received: perhaps not the authoriser's order, perhaps none at all. */
  request: unknown;
}

/** What of an order names the thing that is refused; nothing else of it gets into a log. */
const named = ['jti', 'kind', 'tx_id', 'attempt', 'key_id'] as const;
const maxTextLength = 100;
const maxReasonLength = 300;

/** Leaves a row, a log line and a count of everything that this node refuses, whoever has asked. */
export class RefusalReport {
  constructor(
    private readonly self: NodeIndex,
    private readonly logger: Logger,
    private readonly rows: Pick<RefusedRequests, 'add'>,
  ) {}

  /** Does what was asked. @throws what `run` throws */
  async during<R>(asked: Asked, run: () => Promise<R>): Promise<R> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof GatewayError) await this.report(error, asked);
      throw error;
    }
  }

  /** The same activities, with a report of what they refuse. */
  activities<T extends object>(activities: T): T {
    const wrapped = Object.entries(activities).map(([act, run]: [string, (input: object) => Promise<unknown>]) => [
      act,
      (input?: { peer?: unknown }) =>
        this.during({ role: 'initiator', act, peer: input?.peer, request: input ?? {} }, () => run(input ?? {})),
    ]);
    return Object.fromEntries(wrapped) as T;
  }

  private async report(
    { code, message, extra: { node = String(this.self) } = {} }: GatewayError,
    { role, act, peer, request }: Asked,
  ): Promise<void> {
    if (!isRefusal(code) && code !== 'invalid_parameter') return;
    const isOwn = node === String(this.self);
    const named = readClaims(request);
    const facts = { role, act, code, reason: message, ...(typeof peer === 'number' && { peer }), order: named };
    this.logger.info(facts, isOwn ? 'this node refuses' : 'the peer refuses');
    if (!isOwn) return;
    nodeRefusals.inc({ role, code });
    const reason = printable(message, maxReasonLength);
    const row = { role, act, code, reason, peer: nodeIndexes.find((index) => index === peer) ?? null, named };
    // refused in any case, also without its row
    await this.rows.add(row).catch((err: unknown) => this.logger.warn({ err }, 'a refusal is not on record'));
  }
}

/** As the order says it, whether or not it is valid. */
function readClaims(request: unknown): Record<string, string | number> {
  const { order, transaction } = readFields(request);
  const claims = decodeClaims(order ?? readFields(transaction).order);
  const facts: Record<string, string | number> = {};
  for (const name of named) {
    const value = claims[name];
    if (typeof value === 'number') facts[name] = value;
    if (typeof value === 'string') facts[name] = printable(value, maxTextLength);
  }
  return facts;
}

/** Unverified; none of what is not a JWS. */
function decodeClaims(jws: unknown): Record<string, unknown> {
  try {
    return typeof jws === 'string' ? decodeJwt(jws) : {};
  } catch {
    return {};
  }
}

/** Of an object, or of JSON text; none of anything else. */
function readFields(value: unknown): Record<string, unknown> {
  if (typeof value === 'string') {
    try {
      const parsed: unknown = JSON.parse(value);
      return typeof parsed === 'string' ? {} : readFields(parsed);
    } catch {
      return {};
    }
  }
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
