import { getAddress, parseTransaction, serializeTransaction, type TransactionSerializableEIP1559 } from 'viem';
import { type Authorisation, readAuthorisation, writeAuthorisation } from '../../src/chains/evm/authorise/bytes';
import { evmFamily } from '../../src/chains/evm/family';
import { encodeSettlement, type SettledPayment } from '../../src/chains/evm/payments/calldata';
import { readSettlement } from '../../src/chains/evm/payments/read-calldata';
import type { Hex, TransactionDescription } from '../../src/chains/types';
import type { ClaimsOf, SigningClaims } from '../../src/messages/order';
import type { OrderSigner } from '../../src/orders/signer';
import { orderHead } from '../orders';
import { gatewayQuery } from './processes';

/** An order of a kind over the bytes of an attempt. */
export interface OrderOf<Claims = SigningClaims> {
  order: string;
  unsigned: Hex;
  claims: Claims;
}

/** The newest one of a kind that the nodes have followed: the very order, since the signature of the same claims is always the same. */
export async function newestOrder<K extends SigningClaims['kind']>(kind: K, signer: OrderSigner): Promise<OrderOf<ClaimsOf<K>>> {
  const [row] = await gatewayQuery<{ claims: ClaimsOf<K>; unsigned: Hex }>(
    `select o.claims, a.unsigned from orders o join transfer_attempts a using (tx_id, attempt)
      where o.kind = $1 order by o.seq desc limit 1`,
    [kind],
  );
  if (!row) throw new Error(`there is no order of kind ${kind}`);
  return { ...row, order: await signer.sign(row.claims) };
}

/** What an order is to say that the bytes do not; `by`: whose order tells the key. */
export interface Changes {
  kind?: SigningClaims['kind'];
  unsigned?: Hex;
  by?: OrderOf;
  [claim: string]: unknown;
}

/**
 * Another order by the authoriser's own key, for a transaction of its own: it says what the bytes do, and otherwise what `real` says, unless
 * `changes` say something else.
 */
export async function orderOver(
  real: OrderOf,
  signer: OrderSigner,
  { unsigned = real.unsigned, by = real, ...changes }: Changes,
): Promise<OrderOf> {
  const { kind } = { ...real.claims, ...changes };
  const described = evmFamily.describe(unsigned);
  const { dep, seq, attempt, request, chain } = real.claims;
  const { client_id, from, signers } = by.claims;
  const claims = {
    // the number of a real one: a higher one would tell that the gateway's database has lost orders
    ...orderHead({ dep, seq }),
    ...{ kind, tx_id: crypto.randomUUID(), attempt, request, chain, client_id, from },
    signers: signers.map((one) => ({ ...one, digests: digestsOf(unsigned, from) })),
    recipients: described.outputs.map(({ recipient, tokenContract, amount }) => ({
      ...{ address: recipient, token: tokenContract, amount: amount.toString() },
    })),
    max_fee: described.maxNetworkFee.toString(),
    ...factsOf(kind, described, real),
    ...changes,
  } as SigningClaims;
  return { order: await signer.sign(claims), unsigned, claims };
}

/** What only orders of this kind say. */
function factsOf(
  kind: SigningClaims['kind'],
  { settlement, authorisation, expiresAt }: TransactionDescription,
  { claims }: OrderOf,
) {
  if (kind === 'settlement') {
    const of = 'settlement' in claims ? claims.settlement : undefined;
    const { method = 'eip3009', payer = claims.from, identity = 'x', authorised = 1n } = settlement ?? {};
    const facts = { client_id: of?.client_id ?? claims.client_id, method, payer, identity, authorised: authorised.toString() };
    return { settlement: { ...facts, window_end: expiresAt ?? 1 } };
  }
  if (kind !== 'typed_data') return {};
  const { method = 'eip3009', identity = 'x', facilitator = null } = authorisation ?? {};
  return { authorisation: { method, identity, facilitator, window_end: expiresAt ?? 1 } };
}

/** Those of a payment are of the account that it names, whoever is said to sign it. */
function digestsOf(unsigned: Hex, from: string): Hex[] {
  const signer = unsigned.startsWith('0x1901') ? readAuthorisation(unsigned).from : from;
  return evmFamily.signingPayloads(unsigned, signer).map(({ digest }) => digest);
}

/** The same payment with changes. */
export const alterPayment = (unsigned: Hex, changes: Partial<Authorisation>): Hex =>
  writeAuthorisation({ ...readAuthorisation(unsigned), ...changes });

/** The same settlement of another payment. */
export function alterSettlement(unsigned: Hex, changes: Partial<SettledPayment>): Hex {
  const parsed = parseTransaction(unsigned) as TransactionSerializableEIP1559;
  const read = readSettlement({ to: getAddress(parsed.to ?? '0x'), data: parsed.data ?? '0x' });
  if (!read) throw new Error('the bytes settle nothing');
  const payment = { ...read.payment, ...changes };
  const { to, data } = encodeSettlement(payment, payment.authorised);
  return serializeTransaction({ ...parsed, to, data, type: 'eip1559' });
}
