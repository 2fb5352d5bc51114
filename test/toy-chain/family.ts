import type { EntityManager } from 'typeorm';
import type { BoundRequest, Family, ReservationOwner, ReserveResult, TransactionPlan } from '../../src/chains/family';
import type { AttemptKind, Hex, JsonObject, Prepared } from '../../src/chains/types';
import {
  decodeMessage,
  encodeMessage,
  feeOf,
  messageKeyOf,
  parseToyAddress,
  payloadsOf,
  sealTransaction,
  sum,
  toKey,
  toyAddress,
  type ToyInput,
  type ToyMessage,
} from './message';

/** What `prepare` of the client hands to `reserve` and `build`: an opaque value for everybody else. */
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
const defaultFee = 10n;

function build({ chain, intent, prepared, resources }: TransactionPlan): Hex {
  const { own, guardian, fee } = fromDetails(prepared);
  const known = new Map([...own, ...guardian].map((input) => [input.id, input]));
  const inputs = resources.map((id) => {
    const input = known.get(id);
    if (!input) throw new Error(`nothing is known of the input ${id}`);
    return input;
  });
  const outputs = intent.outputs.map(({ recipient: to, amount }) => ({ to, amount }));
  const others = inputs.filter(({ owner }) => owner !== intent.from);
  const rest = sum(inputs) - sum(others) - sum(outputs) - fee;
  const change = others.map(({ owner: to, amount }) => ({ to, amount }));
  if (rest > 0n) change.push({ to: intent.from, amount: rest });
  const expiryHeight = Number(prepared.expiry?.height);
  const unsigned = encodeMessage({ chain: chain.caip2, from: intent.from, inputs, outputs, change, expiryHeight });
  decodeMessage(unsigned);
  return unsigned;
}

function describe(unsigned: Hex) {
  const message = decodeMessage(unsigned);
  return {
    chain: message.chain,
    outputs: message.outputs.map(({ to: recipient, amount }) => ({ recipient, tokenContract: null, amount })),
    maxNetworkFee: feeOf(message),
    resources: message.inputs.map(({ id }) => id),
  };
}

/** @throws Error for a message of somebody else. */
function messageOf(unsigned: Hex, from: string): ToyMessage {
  const message = decodeMessage(unsigned);
  if (toKey(from) !== toKey(message.from)) throw new Error('the message is of another sender');
  return message;
}

async function bound(manager: EntityManager, { chain }: BoundRequest): Promise<bigint> {
  const [row] = await manager.query<{ fee_levels: { fee?: string } }[]>('select fee_levels from chain_cursors where chain = $1', [
    chain.name,
  ]);
  return BigInt(row?.fee_levels.fee ?? defaultFee) * headroom;
}

/**
 * Inputs are rows: what the transfer holds already, as far as it is still unspent, and as many more as the amount and the fee need.
 * Takers on one chain wait for each other.
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
  const taken = await manager.query<{ resource: string; tx_id: string }[]>(
    'select resource, tx_id from reservations where chain = $1 and released_at is null',
    [owner.chain],
  );
  const details = fromDetails(prepared);
  const ours = new Set(taken.filter((row) => row.tx_id === txId).map(({ resource }) => resource));
  const theirs = new Set(taken.filter((row) => row.tx_id !== txId).map(({ resource }) => resource));
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
    await manager.query('insert into reservations (chain, owner, resource, tx_id) values ($1, $2, $3, $4)', [
      owner.chain,
      toKey(input.owner),
      input.id,
      txId,
    ]);
  }
  return { outcome: 'reserved', resources: inputs.map(({ id }) => id) };
}

/** Held ones first, so that a replacement spends what the earlier attempts would spend. */
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
  rules: { stuck: 'replace', expired: 'reissue', giveUp: 'expiry' },
  keyProtocol: 'ecdsa-secp256k1',
  addressOnManyChains: false,
  fees: { bound: (_chain, _token, levels) => BigInt(String(levels.fee)) * headroom },
  accountPath: (index) => `m/7/${index}`,
  address: toyAddress,
  parseAddress: parseToyAddress,
  build,
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
