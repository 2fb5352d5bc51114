import type {
  AttemptStatus,
  BlockScan,
  BroadcastOutcome,
  ChainBlock,
  ChainClient,
  ForeignState,
  IsOurs,
  KnownAttempt,
  PrepareRequest,
  ScanResult,
} from '../../src/chains/chain-client';
import type {
  ChainDefinition,
  FeeLevels,
  Hex,
  InclusionEffect,
  JsonObject,
  Prepared,
  TransactionIntent,
} from '../../src/chains/types';
import { toDetails } from './family';
import type { ToyBlock, ToyLedger } from './ledger';
import { decodeMessage, feeOf, paymentsOf, spentBy, sum, toKey, type ToyInput, type ToyTransaction } from './message';

/** Number of blocks for which a transaction is valid. */
export const lifeBlocks = 8;

/** The gateway's client of the toy chain. */
export class ToyChainClient implements ChainClient {
  readonly endpoint = 'toy';

  constructor(
    readonly chain: ChainDefinition,
    private readonly ledger: ToyLedger,
  ) {}

  verifyIdentity(): Promise<void> {
    return Promise.resolve();
  }

  head(): Promise<{ number: number }> {
    return Promise.resolve({ number: this.ledger.height });
  }

  feeLevels(): Promise<FeeLevels> {
    return Promise.resolve({ fee: this.ledger.fee.toString() });
  }

  /** A replacement pays twice the fee of the attempt before it; a reissue starts at the current fee. */
  prepare({ kind, intent, previous }: PrepareRequest): Promise<Prepared> {
    const { ledger } = this;
    const last = previous.at(-1);
    const fee = kind === 'replacement' && last ? feeOf(decodeMessage(last.unsigned)) * 2n : ledger.fee;
    const guardian = ledger.guardianOf(intent.from);
    const own = this.spendable(intent.from, previous);
    return Promise.resolve({
      feeBound: fee.toString(),
      expiry: { height: ledger.height + lifeBlocks },
      details: toDetails({
        amount: intent.action ? 0n : sum(intent.outputs),
        fee,
        own,
        guardian: guardian === undefined ? [] : this.spendable(guardian, previous),
      }),
    });
  }

  status(attempts: KnownAttempt[]): Promise<AttemptStatus[]> {
    return Promise.resolve(attempts.map((attempt) => this.statusOf(attempt)));
  }

  broadcast(bytes: Hex): Promise<BroadcastOutcome> {
    return Promise.resolve(this.ledger.accept(bytes));
  }

  usedOrdinals(): Promise<null> {
    return Promise.resolve(null);
  }

  /** Nobody signs anything for the gateway to send here. */
  foreignState(): Promise<ForeignState> {
    return Promise.resolve('absent');
  }

  effects(items: { id: string; intent: TransactionIntent }[]): Promise<Map<string, InclusionEffect>> {
    const found = items.flatMap(({ id, intent }): [string, InclusionEffect][] => {
      const included = this.ledger.find(id);
      return included ? [[id, effectOf(included.transaction, included.block, intent)]] : [];
    });
    return Promise.resolve(new Map(found));
  }

  async effectAtEach(item: { id: string; intent: TransactionIntent }): Promise<(InclusionEffect | null)[]> {
    return [(await this.effects([item])).get(item.id) ?? null];
  }

  block(number: number): Promise<ChainBlock | null> {
    const block = this.ledger.block(number);
    return Promise.resolve(block && { number: block.number, hash: block.hash, parentHash: block.parentHash });
  }

  async scan(from: number, to: number, isOurs: IsOurs): Promise<ScanResult> {
    const blocks = this.ledger.range(from, to);
    const addresses = blocks.flatMap(({ transactions }) =>
      transactions.flatMap(({ message }) => [message.from, ...paymentsOf(message).map(({ to: paid }) => paid)].map(toKey)),
    );
    const ours = await isOurs([...new Set(addresses)]);
    return { blocks: blocks.map((block) => scanBlock(block, ours)), scannedTo: Math.min(to, this.ledger.height) };
  }

  /** Outputs that no mined transaction spends; those of earlier attempts come with them. */
  private spendable(owner: string, previous: KnownAttempt[]): ToyInput[] {
    const earlier = previous.flatMap(({ unsigned }) => decodeMessage(unsigned).inputs.map(({ id }) => id));
    const unspent = this.ledger.unspent(owner);
    return [...unspent.filter(({ id }) => earlier.includes(id)), ...unspent.filter(({ id }) => !earlier.includes(id))];
  }

  private statusOf({ attempt, messageKey, unsigned, intent, expiry }: KnownAttempt): AttemptStatus {
    const included = this.ledger.findByMessage(messageKey);
    if (included) {
      const { transaction, block } = included;
      const depth = this.ledger.height - block.number + 1;
      return { attempt, state: 'included', id: transaction.id, depth, effect: effectOf(transaction, block, intent) };
    }
    const proof = this.proofAgainst(unsigned, Number(expiry?.height));
    if (proof) return { attempt, state: 'impossible', proof };
    const pending = this.ledger.pending(messageKey);
    return pending ? { attempt, state: 'pending', id: pending.id } : { attempt, state: 'absent' };
  }

  /** For a message that no block holds: it has expired, or another transaction has spent an input, at finality depth. */
  private proofAgainst(unsigned: Hex, expiryHeight: number): JsonObject | null {
    const finalHeight = this.ledger.height - this.chain.finalityDepth + 1;
    if (finalHeight > expiryHeight) return { kind: 'expired', expiryHeight, finalHeight };
    for (const { id } of spentBy(decodeMessage(unsigned))) {
      const spender = this.ledger.findSpender(id);
      if (spender && spender.block.number <= finalHeight) {
        return { kind: 'input_spent', input: id, by: spender.transaction.id, blockNumber: spender.block.number };
      }
    }
    return null;
  }
}

function effectOf({ message }: ToyTransaction, block: ToyBlock, intent: TransactionIntent): InclusionEffect {
  const paid = sum(paymentsOf(message).filter(({ to }) => intent.outputs.some(({ recipient }) => recipient === to)));
  const { number: blockNumber, hash: blockHash } = block;
  return { blockNumber, blockHash, success: true, fee: feeOf(message), debited: paid, received: paid };
}

/** Change is no deposit: it comes from the owner's own inputs. */
function scanBlock({ number, hash, parentHash, transactions }: ToyBlock, ours: Set<string>): BlockScan {
  return {
    number,
    hash,
    parentHash,
    transactions: transactions.map(({ id, messageKey, message }) => ({
      id,
      messageKey: message.inputs.length > 0 && ours.has(toKey(message.from)) ? messageKey : null,
    })),
    deposits: transactions.flatMap(({ id, message }) =>
      paymentsOf(message).flatMap(({ to, amount }, index) =>
        ours.has(toKey(to))
          ? [
              {
                txHash: id,
                position: `${index}`,
                blockNumber: number,
                blockHash: hash,
                fromAddress: message.voucher?.input.owner ?? message.from,
                toAddress: to,
                tokenContract: null,
                amount,
              },
            ]
          : [],
      ),
    ),
  };
}
