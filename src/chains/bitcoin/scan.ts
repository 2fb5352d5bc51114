import type { BlockScan, IsOurs, OutputFound } from '../chain-client';
import type { ChainDefinition, PendingDeposit } from '../types';
import { parseBlock, type RawTransaction } from './block';
import { toAddress, toScript } from './codec/address';
import type { BitcoinNetwork } from './network';
import { findOriginsInBlock } from './origins';
import { findSpentScript } from './spender';

/** Depth from which the outputs of a block's first transaction can be spent (COINBASE_MATURITY of Bitcoin Core, consensus). */
const coinbaseMaturity = 100;
/** Of senders that a transaction does not show. */
const unknownSender = 'unknown';

/** Of one transaction, in hex. */
export interface Scripts {
  /** Of the outputs that it spends, as far as it shows them. */
  spent: (string | null)[];
  paid: string[];
}

/**
 * What a block holds for the gateway. Outputs to the address of an input are change and no deposits.
 * @throws Error on bytes that are no block.
 */
export async function scanBlock(
  network: BitcoinNetwork,
  chain: ChainDefinition,
  number: number,
  bytes: Buffer,
  isOurs: IsOurs,
): Promise<BlockScan> {
  const block = parseBlock(bytes);
  const scripts = block.transactions.map(readScripts);
  const ours = await isOurs(toCandidates(scripts));
  const found = block.transactions.map((transaction, index) => {
    const { spent, paid } = scripts[index] as Scripts;
    const at = { transaction, number, spent };
    const received = findReceived(transaction, paid, ours);
    return {
      isSpending: spent.some((script) => script !== null && ours.has(script)),
      made: received.map(({ script, vout }) => toOutput(chain, at, script, vout)),
      deposits: findPayments(network, transaction, scripts[index] as Scripts, ours).map((payment) => ({
        ...payment,
        ...{ blockNumber: number, blockHash: block.hash },
        ...(transaction.isCoinbase && { confirmations: maturityOn(chain) }),
      })),
    };
  });
  return {
    number,
    hash: block.hash,
    parentHash: block.parentHash,
    transactions: block.transactions.map(({ id }, index) => ({ id, messageKey: found[index]?.isSpending ? id : null })),
    deposits: found.flatMap(({ deposits }) => deposits),
    outputs: {
      made: found.flatMap(({ made }) => made),
      // by output, whatever its input shows: which of them are the gateway's is known to whoever stores them
      spent: block.transactions.flatMap(({ id: by, inputs, isCoinbase }) =>
        isCoinbase ? [] : inputs.map(({ resource }) => ({ resource, by })),
      ),
      origins: findOriginsInBlock(
        block.transactions,
        number,
        block.transactions.flatMap(({ id }, index) => (found[index]?.made.length ? [id] : [])),
      ),
    },
  };
}

export const readScripts = ({ inputs, outputs }: RawTransaction): Scripts => ({
  spent: inputs.map(findSpentScript),
  paid: outputs.map(({ script }) => script.toString('hex')),
});

/** Those that may be of accounts, each once. */
export const toCandidates = (scripts: Scripts[]): string[] => [
  ...new Set(scripts.flatMap(({ spent, paid }) => [...spent, ...paid]).filter((script) => isAccount(script))),
];

/** An output may be of 0 satoshis: there is nothing in it to credit or to spend. */
const findReceived = (
  { outputs }: RawTransaction,
  paid: string[],
  ours: ReadonlySet<string>,
): { script: string; vout: number }[] =>
  paid.flatMap((script, vout) => (ours.has(script) && (outputs[vout]?.amount ?? 0n) > 0n ? [{ script, vout }] : []));

/** What a transaction pays to the gateway's addresses, but for change. */
export function findPayments(
  { format }: BitcoinNetwork,
  transaction: RawTransaction,
  { spent, paid }: Scripts,
  ours: ReadonlySet<string>,
): PendingDeposit[] {
  const [sender] = spent;
  const payments = findReceived(transaction, paid, ours).filter(({ script }) => !spent.includes(script));
  return payments.map(({ script, vout }) => ({
    txHash: transaction.id,
    position: String(vout),
    fromAddress: sender ? toAddress(format, toScript(sender)) : unknownSender,
    toAddress: toAddress(format, toScript(script)),
    tokenContract: null,
    amount: transaction.outputs[vout]?.amount ?? 0n,
  }));
}

/** Accounts have P2WPKH addresses: no other script is looked up. */
const isAccount = (script: string | null): script is string => script !== null && /^0014[0-9a-f]{40}$/.test(script);

interface Place {
  transaction: RawTransaction;
  number: number;
  spent: (string | null)[];
}

/** Its own change may be spent at once, what others have paid when it is credited. */
function toOutput(chain: ChainDefinition, { transaction, number, spent }: Place, owner: string, vout: number): OutputFound {
  const { id, isCoinbase, outputs } = transaction;
  const wait = isCoinbase ? maturityOn(chain) : spent.includes(owner) ? 1 : chain.confirmations;
  const amount = outputs[vout]?.amount ?? 0n;
  return { resource: `${id}:${vout}`, owner, madeBy: id, amount, spendableFrom: number + wait - 1 };
}

/** Depth at which what a block pays its miner is credited and may be spent. */
const maturityOn = ({ confirmations }: ChainDefinition): number => Math.max(coinbaseMaturity, confirmations);
