import type { EntityManager } from 'typeorm';
import type {
  BoundRequest,
  Family,
  FeeStrategy,
  ReservationOwner,
  ReserveResult,
  TransactionPlan,
} from '../../src/chains/family';
import { findFeeLevels } from '../../src/chains/fee-levels';
import { findReservations, insertReservation } from '../../src/chains/reservations';
import type { AttemptKind, Hex, JsonObject, Prepared, TransactionDescription, TransactionIntent } from '../../src/chains/types';
import {
  decodeMessage,
  encodeMessage,
  feeOf,
  messageKeyOf,
  parseToyAddress,
  paymentsOf,
  payloadsOf,
  sealTransaction,
  sum,
  toKey,
  toyAddress,
  type ToyInput,
  type ToyMessage,
  type ToyVoucher,
} from './message';

/** Details from the client's `prepare` to `reserve` and `build`: opaque to everything else. */
export interface ToyDetails {
  amount: bigint;
  fee: bigint;
  /** Outputs of the sender, spendable as far as the chain knows. */
  own: ToyInput[];
  /** Outputs of the guardian, of which one has to be spent; empty where the sender has none. */
  guardian: ToyInput[];
}

const inputsToJson = (inputs: ToyInput[]) => inputs.map(({ id, owner, amount }) => [id, owner, amount.toString()]);

export const toDetails = ({ amount, fee, own, guardian }: ToyDetails): JsonObject => ({
  amount: amount.toString(),
  fee: fee.toString(),
  own: inputsToJson(own),
  guardian: inputsToJson(guardian),
});

function fromDetails({ details }: Prepared): ToyDetails {
  const raw = details as { amount: string; fee: string; own: string[][]; guardian: string[][] };
  const inputs = (rows: string[][]): ToyInput[] =>
    rows.map(([id, owner, amount]) => ({ id: String(id), owner: String(owner), amount: BigInt(String(amount)) }));
  return { amount: BigInt(raw.amount), fee: BigInt(raw.fee), own: inputs(raw.own), guardian: inputs(raw.guardian) };
}

/** Fees double with each replacement: enough for two of them. */
const headroom = 4n;

const toyFees: FeeStrategy = { bound: (_chain, _token, levels) => BigInt(levels.fee as string) * headroom };

function build({ chain, intent, prepared, resources }: TransactionPlan): Hex {
  const { own, guardian, fee } = fromDetails(prepared);
  const known = new Map([...own, ...guardian].map((input) => [input.id, input]));
  const inputs = resources.map((id) => {
    const input = known.get(id);
    if (!input) throw new Error(`nothing is known of the input ${id}`);
    return input;
  });
  const voucher = toVoucher(intent);
  const outputs = voucher ? [] : intent.outputs.map(({ recipient: to, amount }) => ({ to, amount }));
  const others = inputs.filter(({ owner }) => owner !== intent.from);
  const rest = sum(inputs) - sum(others) - sum(outputs) - fee;
  const change = others.map(({ owner: to, amount }) => ({ to, amount }));
  if (rest > 0n) change.push({ to: intent.from, amount: rest });
  const expiryHeight = Number(prepared.expiry?.height);
  const message = { chain: chain.caip2, from: intent.from, inputs, outputs, change, expiryHeight };
  const unsigned = encodeMessage({ ...message, ...(voucher && { voucher }) });
  decodeMessage(unsigned);
  return unsigned;
}

/** A settlement of this family pays one output of the payer as it is. */
function toVoucher({ action, outputs: [output] }: TransactionIntent): ToyVoucher | null {
  if (!action) return null;
  if (action.type !== 'settlement' || output?.amount.toString() !== action.authorised)
    throw new Error('no settlement of a voucher');
  const { nonce: id, payer: owner, signature } = action;
  return { input: { id, owner, amount: output.amount }, to: output.recipient, signature };
}

function describe(unsigned: Hex): TransactionDescription {
  const message = decodeMessage(unsigned);
  return {
    chain: message.chain,
    action: message.voucher ? 'settlement' : 'payment',
    outputs: paymentsOf(message).map(({ to: recipient, amount }) => ({ recipient, tokenContract: null, amount })),
    maxNetworkFee: feeOf(message),
    resources: message.inputs.map(({ id }) => id),
  };
}

function recover(unsigned: Hex, feeBound: bigint): Prepared {
  const message = decodeMessage(unsigned);
  const details = toDetails({ amount: sum(message.outputs), fee: feeOf(message), own: message.inputs, guardian: [] });
  return { feeBound: feeBound.toString(), expiry: { height: message.expiryHeight }, details };
}

/** @throws Error for a message of another sender. */
function messageOf(unsigned: Hex, from: string): ToyMessage {
  const message = decodeMessage(unsigned);
  if (toKey(from) !== toKey(message.from)) throw new Error('the message is of another sender');
  return message;
}

async function bound(manager: EntityManager, { chain, token }: BoundRequest): Promise<bigint> {
  return toyFees.bound(chain, token, await findFeeLevels(manager, chain));
}

/**
 * Inputs are rows: those that the transfer already holds, as far as they are unspent, and as many more as the amount and the fee
 * need.
 */
async function reserve(
  manager: EntityManager,
  owner: ReservationOwner,
  prepared: Prepared,
  txId: string,
  kind: AttemptKind,
): Promise<ReserveResult> {
  if (kind === 'cancellation') throw new Error('this family has no cancellations');
  await manager.query('select pg_advisory_xact_lock(hashtext($1))', [`toy inputs of ${owner.chain}`]);
  const ours = new Set((await findReservations(manager, txId)).map(({ resource }) => resource));
  const theirs = await findHeldByOthers(manager, owner.chain, txId);
  const details = fromDetails(prepared);
  const chosen = [
    choose(details.own, details.amount + details.fee, ours, theirs),
    choose(details.guardian, details.guardian.length > 0 ? 1n : 0n, ours, theirs),
  ];
  if (chosen.some((inputs) => inputs === null)) {
    return theirs.size > 0
      ? { outcome: 'wait', reason: 'Other transfers hold the outputs of this account' }
      : { outcome: 'refused', code: 'insufficient_balance', reason: 'The outputs of this account are too small' };
  }
  const inputs = chosen.flatMap((list) => list ?? []);
  for (const input of inputs.filter(({ id }) => !ours.has(id))) {
    const inputOwner = { ...owner, addressKey: toKey(input.owner) };
    await insertReservation(manager, inputOwner, txId, { resource: input.id, ordinal: null });
  }
  return { outcome: 'reserved', resources: inputs.map(({ id }) => id) };
}

async function findHeldByOthers(manager: EntityManager, chain: string, txId: string): Promise<Set<string>> {
  const rows = await manager.query<{ resource: string }[]>(
    'select resource from reservations where chain = $1 and tx_id <> $2 and released_at is null',
    [chain, txId],
  );
  return new Set(rows.map(({ resource }) => resource));
}

/** Held inputs first, so that a replacement spends the inputs of the earlier attempts. */
function choose(outputs: ToyInput[], needed: bigint, ours: Set<string>, theirs: Set<string>): ToyInput[] | null {
  const inputs = outputs.filter(({ id }) => ours.has(id));
  for (const output of outputs) {
    if (sum(inputs) >= needed) break;
    if (!ours.has(output.id) && !theirs.has(output.id)) inputs.push(output);
  }
  return sum(inputs) >= needed ? inputs : null;
}

/** A family with inputs instead of nonces, expiry, several signers, and ids that change with each signature. */
export const toyFamily: Family = {
  name: 'toy',
  rules: { stuck: 'replace', expired: 'reissue', abandoned: 'expiry' },
  keyProtocol: 'ecdsa-secp256k1',
  addressOnManyChains: false,
  tokenType: 'SPL',
  fees: toyFees,
  accountPath: (index) => `m/7/${index}`,
  address: toyAddress,
  parseAddress: parseToyAddress,
  build,
  recover,
  getOrdinal: () => null,
  describe,
  signingPayloads: (unsigned, from) => {
    messageOf(unsigned, from);
    return payloadsOf(unsigned).map(({ signer, digest }) => ({ signer, digest }));
  },
  assemble: (unsigned, signatures, from) => {
    messageOf(unsigned, from);
    const { id, bytes } = sealTransaction(unsigned, signatures);
    return { id, bytes };
  },
  messageKey: (unsigned, from) => {
    messageOf(unsigned, from);
    return messageKeyOf(unsigned);
  },
  bound,
  reserve,
};
