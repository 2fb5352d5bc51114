import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import { type AttemptFacts, enabledOrderKinds, type OrderClaims, type OrderFacts, orderLifetimeSeconds } from '../messages/order';
import { GatewayError } from '../platform/errors';
import { reconcileRequired } from './reconcile-required';
import type { OrderSigner } from './signer';

export interface OrdersOptions {
  signer: OrderSigner;
  /** Deployment id: in every order. */
  deployment: string;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** An order under this many seconds of remaining life is replaced by another one: a signing session takes up to 15 s. */
const renewBeforeSeconds = 90;
/** Between the clocks of two authorisers; the nodes allow a minute. */
const clockDifferenceSeconds = 30;

/**
 * The authoriser's orders. Claims are stored in the database transaction that decides; the order is signed from the stored claims
 * after the commit, so that there is none without its row.
 */
export class Orders {
  private readonly now: () => number;

  constructor(private readonly options: OrdersOptions) {
    this.now = options.now ?? Date.now;
  }

  /**
   * Stores the claims of a new order and returns them as they are stored. `expiresAt`: when the bytes stop being executable by
   * themselves, seconds since the epoch.
   * @throws GatewayError order_refused for a kind that is not enabled; reconcile_required while orders are missing (src/orders/comparison.ts).
   */
  async issue(manager: EntityManager, facts: OrderFacts, expiresAt = Infinity): Promise<OrderClaims> {
    if (!enabledOrderKinds.some((kind) => kind === facts.kind))
      throw new GatewayError('order_refused', `kind: ${facts.kind} is not enabled`);
    const iat = Math.floor(this.now() / 1000);
    const head = {
      v: 1,
      dep: this.options.deployment,
      jti: randomUUID(),
      iat,
      exp: Math.min(iat + orderLifetimeSeconds, expiresAt),
    };
    const { tx_id: txId = null, attempt = null } = 'tx_id' in facts ? facts : {};
    const [row] = await manager.query<{ claims: OrderClaims }[]>(
      `insert into orders (jti, seq, kind, tx_id, attempt, claims)
       select $1, number, $2, $3, $4, jsonb_set($5::jsonb, '{seq}', to_jsonb(number))
         from (select nextval('order_numbers') as number where orders_are_compared()) next
       returning claims`,
      [head.jti, facts.kind, txId, attempt, JSON.stringify({ ...head, ...facts })],
    );
    if (!row) throw reconcileRequired();
    return row.claims;
  }

  /**
   * The newest order of an attempt, if it says just this and is good for long enough to be used, or for as long as any other would be;
   * null otherwise. `expiresAt`: as for `issue`. One that a clock ahead of this one has issued is refused by the nodes. A number that was
   * not issued yet was not written by an authoriser: with it the nodes would take the order for the newest one for ever.
   */
  async findUsable(manager: EntityManager, facts: AttemptFacts, expiresAt = Infinity): Promise<OrderClaims | null> {
    const [row] = await manager.query<{ claims: OrderClaims }[]>(
      `select claims from orders where tx_id = $1 and attempt = $2 and orders_are_compared()
          and seq <= pg_sequence_last_value('order_numbers') order by seq desc limit 1`,
      [facts.tx_id, facts.attempt],
    );
    if (!row) return null;
    const { jti, seq, iat, exp } = row.claims;
    const now = this.now() / 1000;
    if (iat > now + clockDifferenceSeconds || exp - iat > orderLifetimeSeconds) return null;
    if (exp - renewBeforeSeconds <= now && exp < expiresAt) return null;
    const same = { v: 1, dep: this.options.deployment, jti, seq, iat, exp, ...facts };
    return isDeepStrictEqual(same, row.claims) ? row.claims : null;
  }

  /**
   * The bytes of an attempt never change: its orders stay in an append-only table, whatever becomes of the other rows that say what it is.
   * @throws GatewayError intent_mismatch when a stored order of the attempt is over other digests, or for other keys.
   */
  async assertNoOthers(manager: EntityManager, { tx_id: txId, attempt, signers }: AttemptFacts): Promise<void> {
    const [row] = await manager.query<{ jti: string }[]>(
      `select jti from orders where tx_id = $1 and attempt = $2 and claims -> 'signers' is distinct from $3::jsonb limit 1`,
      [txId, attempt, JSON.stringify(signers)],
    );
    if (row) throw new GatewayError('intent_mismatch', `Attempt ${attempt} of ${txId} is not what its order ${row.jti} is about`);
  }

  /** JWS in compact form; call it after the commit. */
  sign(claims: OrderClaims): Promise<string> {
    return this.options.signer.sign(claims);
  }
}
