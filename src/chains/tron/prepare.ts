import { randomBytes, randomInt } from 'node:crypto';
import { GatewayError } from '../../platform/errors';
import { NotEstimated } from '../endpoints';
import { silenceAsNotEstimated } from '../unanswered';
import type { ChainDefinition, Prepared, TransactionIntent, TransactionOutput } from '../types';
import type { Header } from './answers';
import { createTronCodec } from './codec';
import { getPayment } from '../single-payment';
import { fromContractForm, toAddress, toBytes } from './codec/address';
import { encodeTransfer } from './codec/call';
import type { ConstantCall } from './constant-call';
import { toPrepared } from './details';
import { billedBytes, nextPenalty, penaltyOf, withPenalty } from './fees';
import { networks } from './network';
import type { TronNode } from './node';
import type { Parameters } from './parameters';

/** Blocks' time from the reference block, which is solidified and so 20 blocks old already. Six minutes on the real networks. */
const expiresAfterBlocks = 120;
/** Random parts of the times, which tell equal payments apart. */
const jitterMs = 1_000;
/** Bytes that expire much later than the others would have to be waited for. */
const maxAheadMs = 30 * 60_000;
/** A solidified head is 20 blocks old. */
const lateBlocks = 30;
/** On the energy that calls have taken: it depends on the state of the block that executes the transaction. In hundredths. */
const margin = 105n;

interface Context {
  node: TronNode;
  chain: ChainDefinition;
  parameters: Parameters;
  /** The node may not know yet what the account has been paid. */
  isLate: boolean;
}

/** What a transaction may burn, in sun. */
interface Cost {
  feeLimit: bigint;
  /** Of its kind of payment, beside bandwidth and memo: at worst, and as the chain is now. */
  highest: bigint;
  current: bigint;
}

/**
 * Refers to the newest solidified block. The fee bound is what is burnt if the account has neither bandwidth nor energy.
 * @throws GatewayError would_revert; NotEstimated where the node shows less TRX than the transaction would take now, or says that it takes more
 * than the chain's `maxNetworkFee`; EndpointFault for prices that are not believed; NotExecuted.
 */
export async function prepareTransfer(node: TronNode, chain: ChainDefinition, intent: TransactionIntent): Promise<Prepared> {
  const payment = getPayment(intent);
  const from = toKey(intent.from);
  const [block, sender, resources, parameters] = await Promise.all([
    node.solidHead(),
    node.account(from),
    node.resources(from),
    node.parameters(),
  ]);
  if (block.timeMs > Date.now() + maxAheadMs) throw new Error('the head of the node is in the future');
  const context = { node, chain, parameters, isLate: block.timeMs < Date.now() - lateBlocks * chain.blockTimeMs };
  const { tokenContract } = payment;
  const cost = await (tokenContract === null
    ? costOfCoin(context, payment)
    : silenceAsNotEstimated(chain, () =>
        costOfToken(context, { from, token: toKey(tokenContract), ...payment }, resources.energy),
      ));
  if (cost.feeLimit > chain.maxNetworkFee)
    throw new NotEstimated(`${chain.name}: it would take ${cost.feeLimit} sun, which no transaction may cost`);
  if (cost.feeLimit > parameters.maxFeeLimit)
    throw new GatewayError('would_revert', `It needs more energy than a transaction may take on ${chain.name}`);
  const size = billedBytes(buildDraft(chain, intent, block, cost.feeLimit));
  const bandwidth = size * parameters.bandwidthPrice;
  const memo = intent.memo === undefined ? 0n : parameters.memoFee;
  const paid = payment.tokenContract === null ? payment.amount : 0n;
  if (sender.balance < paid + memo + cost.current + (resources.bandwidth < size ? bandwidth : 0n))
    throw new NotEstimated(`${chain.name}: the account has less TRX than the transaction takes`);
  return toPrepared({ ...times(chain, block), feeLimit: cost.feeLimit }, bandwidth + memo + cost.highest);
}

const toKey = (address: string): string => toAddress(toBytes(address)).key;

const times = ({ blockTimeMs }: ChainDefinition, { id, timeMs }: Header) => ({
  // two bytes of the number and eight of the hash (Manager.validateTapos of java-tron)
  reference: { number: id.slice(12, 16), id: id.slice(16, 32) },
  expiration: timeMs + expiresAfterBlocks * blockTimeMs + randomInt(jitterMs),
  timestamp: Date.now() - randomInt(jitterMs),
});

/** Of the length that the transaction will have. */
function buildDraft(chain: ChainDefinition, intent: TransactionIntent, block: Header, feeLimit: bigint) {
  const network = networks.find(({ family }) => family === chain.family);
  if (!network) throw new Error(`${chain.name} is no Tron chain`);
  const prepared = toPrepared({ ...times(chain, block), feeLimit }, 0n);
  return createTronCodec(network).build({ chain, intent, kind: 'first', prepared, resources: [] });
}

/** Whoever is new to the chain costs a fee. */
async function costOfCoin({ node, chain, parameters }: Context, { recipient }: TransactionOutput): Promise<Cost> {
  const { exists, isContract } = await node.account(toKey(recipient));
  if (isContract) throw new GatewayError('would_revert', `${chain.name} pays no TRX to a contract`);
  const fee = exists ? 0n : parameters.newAccountFee;
  return { feeLimit: 0n, highest: fee, current: fee };
}

interface TokenPayment {
  /** Canonical forms. */
  from: string;
  token: string;
  recipient: string;
  amount: bigint;
}

/** A recipient may lose its last token before, so that the transfer takes as much as one to somebody who never had any. */
async function costOfToken(
  { node, chain, parameters, isLate }: Context,
  { from, token, recipient, amount }: TokenPayment,
  available: bigint,
): Promise<Cost> {
  const call = (to: Buffer) => node.call(from, token, encodeTransfer(to, amount));
  const [own, first] = await Promise.all([call(toBytes(recipient)), call(fromContractForm(randomBytes(20)))]);
  if (own.outcome === 'reverted' && isLate) throw new Error('the node is behind, and would revert this transfer');
  if (own.outcome === 'reverted') throw new GatewayError('would_revert', `${chain.name} would revert this transfer`);
  const highest = [own, first].map((it) => highestEnergy(it, parameters)).reduce((a, b) => (a > b ? a : b));
  const price = parameters.energyPrice;
  const burnt = own.energy > available ? own.energy - available : 0n;
  return { feeLimit: highest * price, highest: highest * price, current: burnt * price };
}

/** At the next maintenance the penalty may grow. */
function highestEnergy({ energy, penalty }: ConstantCall, { penaltyIncrease, highestPenalty }: Parameters): bigint {
  const next = nextPenalty(penaltyOf(energy, penalty), { increase: penaltyIncrease, highest: highestPenalty });
  return (withPenalty(energy - penalty, next) * margin + 99n) / 100n;
}
