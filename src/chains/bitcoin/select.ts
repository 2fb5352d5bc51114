import { selectUTXO } from '@scure/btc-signer';
import { toAddress } from './codec/address';
import { type Coin, maxInputs, type Payment, sum } from './codec/transaction';
import type { Selection } from './details';
import type { BitcoinNetwork } from './network';
import { dustLimit } from './sizes';

/** What inputs are chosen for. */
export interface SelectionRequest {
  /** P2WPKH script to which the coins belong and the change goes. */
  script: Uint8Array;
  payments: Payment[];
  /** Satoshis per virtual byte. */
  rate: bigint;
  /** Spent in any case, first and in this order. */
  required: Coin[];
  available: Coin[];
}

export type SelectionResult =
  | ({ outcome: 'selected' } & Selection)
  /** All coins together are too few. */
  | { outcome: 'insufficient' }
  /** They would suffice, but not within one transaction. */
  | { outcome: 'too_many' };

/**
 * The biggest coins, so that there are few inputs; without change where what is left over would be dust: then it is paid as fee. Coins that cost more than
 * they are worth are left out.
 */
export function selectCoins(network: BitcoinNetwork, request: SelectionRequest): SelectionResult {
  const { script, payments, rate, required, available } = request;
  const toInput = ({ resource, amount }: Coin) => {
    const [txid = '', vout] = resource.split(':');
    return { txid, index: Number(vout), witnessUtxo: { script, amount } };
  };
  const chosen = selectUTXO(available.map(toInput), payments, 'accumBiggest', {
    changeAddress: toAddress(network.format, script),
    feePerByte: rate,
    requiredInputs: required.map(toInput),
    // the smallest change that is kept
    dust: dustLimit(script),
    dustRelayFeeRate: 1n,
    alwaysChange: payments.length === 0,
    network: network.format,
  });
  if (!chosen) return { outcome: 'insufficient' };
  if (chosen.inputs.length > maxInputs) return { outcome: 'too_many' };
  const amounts = new Map([...required, ...available].map(({ resource, amount }) => [resource, amount]));
  const coins = chosen.inputs.map(({ txid, index }) => {
    const resource = `${Buffer.from(txid ?? []).toString('hex')}:${index}`;
    return { resource, amount: amounts.get(resource) ?? 0n };
  });
  const paid = chosen.outputs.reduce((total, { amount }) => total + amount, 0n);
  return { outcome: 'selected', coins, fee: sum(coins) - paid };
}
