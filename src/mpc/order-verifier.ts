import { createHash } from 'node:crypto';
import { type ClaimsOf, enabledOrderKinds, orderLifetimeSeconds, type OrderClaims, type OrderKind } from '../messages/order';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { findFault } from '../platform/untrusted';
import { OrderKeys } from './order-keys';
import { claimsSchemas } from './order-schema';

export interface OrderVerifierOptions {
  /** JWKS (RFC 7517) of the authoriser's public keys: this node's own configuration. */
  keys: string;
  deployment: string;
  logger: Logger;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

export interface VerifiedOrder<K extends OrderKind> {
  claims: ClaimsOf<K>;
  /** SHA-256 in hex over the order in compact form. */
  hash: string;
}

/** How far the authoriser's clock may be ahead of this node's. */
const maxClockSkewSeconds = 60;

/**
 * Decides whether an order is the authoriser's: signed under a key of this node's own configuration, for this deployment, now, of an
 * enabled kind, with exactly the claims of that kind. Keys that an order contains or refers to are ignored.
 */
export class OrderVerifier {
  private readonly now: () => number;

  private constructor(
    private readonly options: OrderVerifierOptions,
    private readonly keys: OrderKeys,
  ) {
    this.now = options.now ?? Date.now;
  }

  /** @throws ConfigError when `keys` is not a JWKS of Ed25519 public keys. */
  static async create(options: OrderVerifierOptions): Promise<OrderVerifier> {
    return new OrderVerifier(options, await OrderKeys.create(options.keys, 'MPC_NODE_ORDER_KEYS'));
  }

  /** @throws GatewayError order_refused naming what is wrong with it. */
  async verify<K extends OrderKind>(order: string, kinds: readonly K[]): Promise<VerifiedOrder<K>> {
    const payload = await this.verifySignature(order);
    const claims = readClaims(payload);
    if (claims.dep !== this.options.deployment) throw refused('dep', 'it is an order of another deployment');
    this.checkTimes(claims);
    if (!enabledOrderKinds.some((kind) => kind === claims.kind)) throw refused('kind', `${claims.kind} is not enabled`);
    if (!kinds.some((kind) => kind === claims.kind)) throw refused('kind', `an order to ${claims.kind} does not permit this`);
    return { claims: claims as ClaimsOf<K>, hash: createHash('sha256').update(order).digest('hex') };
  }

  private async verifySignature(order: string): Promise<Uint8Array> {
    try {
      const { payload, isOrder } = await this.keys.open(order);
      if (isOrder) return payload;
    } catch (error) {
      throw refused('signature', 'it is not of a key that this node knows', error);
    }
    throw refused('typ', 'it is not an order');
  }

  private checkTimes({ iat, exp, jti, kind }: OrderClaims): void {
    const now = this.now() / 1000;
    if (iat > now + maxClockSkewSeconds) {
      this.options.logger.error(
        { alert: 'order_from_the_future', jti, kind, iat, seconds_ahead: Math.round(iat - now) },
        'an order is from the future: the clock of the authoriser or of this node is wrong',
      );
      throw refused('iat', `it is more than ${maxClockSkewSeconds} s ahead of this node's clock`);
    }
    if (exp - iat > orderLifetimeSeconds) throw refused('exp', `it is valid for longer than ${orderLifetimeSeconds} s`);
    if (exp <= now) throw refused('exp', 'it has expired');
  }
}

function readClaims(payload: Uint8Array): OrderClaims {
  const value = parse(payload);
  const schema = claimsSchemas.get(String((value as { kind?: unknown } | null)?.kind));
  if (!schema) throw refused('kind', 'it is not known');
  const fault = findFault(schema, value);
  if (fault === null) return value as OrderClaims;
  throw refused(fault || 'claims', 'it is missing, unknown or malformed');
}

function parse(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload).toString('utf8'));
  } catch {
    throw refused('claims', 'they are not JSON');
  }
}

const refused = (claim: string, problem: string, cause?: unknown): GatewayError =>
  new GatewayError('order_refused', `${claim}: ${problem}`, cause === undefined ? {} : { cause });
