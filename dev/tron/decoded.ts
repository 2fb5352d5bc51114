/** What a transaction says, read from its bytes, and whether its owner signed it. */
import { recover, toBase58 } from './address';
import { transactionId } from './json';
import {
  type Contract,
  contractTypes,
  parameterSchemas,
  type RawTransaction,
  type Transaction,
  transactionSchema,
  type TransferContract,
  type TriggerSmartContract,
} from './messages';
import { chainLimits } from './parameters';
import { decode, encode, MalformedMessage, UnknownField } from './protobuf';
import { invalid, Refusal } from './refusal';

export interface Decoded {
  transaction: Transaction;
  raw: RawTransaction;
  /** SHA-256 of the canonical bytes of raw_data, hex. */
  id: string;
  /** Empty if the parameter cannot be read. */
  owner: Buffer;
  signatures: Buffer[];
  /** Size without results. */
  bytes: number;
  transfer?: TransferContract;
  call?: TriggerSmartContract;
}

/**
 * @throws Refusal for contracts that the simulator does not have, for unknown fields within the contract (stricter than the network),
 * and for a transaction without contract
 */
export function readDecoded(transaction: Transaction): Decoded {
  const withoutResults = { ...transaction, ret: [] };
  const raw = transaction.raw_data;
  const [contract] = raw?.contract ?? [];
  if (!raw || !contract) throw invalid('No contract!');
  const id = transactionId(transaction).toString('hex');
  if (raw.contract.length !== 1) {
    throw invalid(`tx ${id} contract size should be exactly 1, this is extend feature ,actual :${raw.contract.length}`);
  }
  const parameter = readParameter(contract);
  return {
    ...{ transaction: withoutResults, raw, id, signatures: transaction.signature, ...parameter },
    bytes: encode(transactionSchema, withoutResults).length,
    owner: (parameter.transfer ?? parameter.call)?.owner_address ?? Buffer.alloc(0),
  };
}

function readParameter({ type, parameter }: Contract): Pick<Decoded, 'transfer' | 'call'> {
  const name = contractTypes[type] ?? '';
  const schema = parameterSchemas[name];
  if (!schema) throw new Refusal('OTHER_ERROR', `the simulator has no ${name || 'contract of this type'}`);
  // Any.unpack asks for the text after the last slash
  if (parameter?.type_url.split('/').at(-1) !== `protocol.${name}`) return {};
  try {
    if (name === 'TransferContract') return { transfer: decode<TransferContract>(schema, parameter.value) };
    return { call: decode<TriggerSmartContract>(schema, parameter.value) };
  } catch (error) {
    if (error instanceof UnknownField) throw new Refusal('OTHER_ERROR', error.message);
    if (error instanceof MalformedMessage) return {};
    throw error;
  }
}

/** The owner's key alone signs: permission 0 (owner) and 2 (active) of an account that changed none. */
const permissions = [0, 2];

/**
 * TransactionCapsule.validatePubSignature and checkWeight, over the id of the canonical bytes: whoever signed another encoding signed
 * another id.
 * @throws Refusal
 */
export function checkSignature({ raw, signatures, owner, transaction }: Decoded): void {
  const refused = (reason: string): Refusal => new Refusal('SIGERROR', reason);
  const [first] = signatures;
  if (!first) throw refused('miss sig or contract');
  if (signatures.length > chainLimits.signatures) throw refused('too many signatures');
  if (!permissions.includes(raw.contract[0]?.Permission_id ?? 0)) throw refused("permission isn't exit");
  if (signatures.length > 1) throw refused(`Signature count is ${signatures.length} more than key counts of permission : 1`);
  if (first.length < 65) throw refused(`Signature size is ${first.length}`);
  const signer = recoverSigner(transaction, first, refused);
  if (!signer.equals(owner)) {
    throw refused(`${first.toString('hex')} is signed by ${toBase58(signer)} but it is not contained of permission.`);
  }
}

function recoverSigner(transaction: Transaction, signature: Buffer, refused: (reason: string) => Refusal): Buffer {
  try {
    return recover(transactionId(transaction), signature);
  } catch (error) {
    throw refused((error as Error).message);
  }
}

/**
 * A transaction from its bytes.
 * @throws MalformedMessage
 */
export const parseTransaction = (bytes: Uint8Array): Transaction => decode<Transaction>(transactionSchema, bytes);
export const transactionBytes = (transaction: Transaction): Buffer => encode(transactionSchema, transaction);
