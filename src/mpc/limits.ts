import { readFileSync } from 'node:fs';
import Joi from 'joi';
import type { FamilyCodec } from '../chains/family';
import { type ChainRegistry, tokenByContract } from '../chains/registry';
import type { ChainDefinition, ChainFamily } from '../chains/types';
import { ConfigError } from '../platform/config';
import { type AdmissionRequest, consolidationFees, feeSum, houseGas } from './admission';
import type { SumLimit, SumLimits } from './journal';

/** The operator's file. Amounts are atomic units as decimal digits; a limit that is left out does not apply. */
interface LimitsFile {
  chains: Record<string, ChainLimitsFile>;
}
interface ChainLimitsFile {
  /** Highest network fee of a transaction, cancellations included. */
  maxFee?: string;
  /** Sum of the highest fees of 24 hours by one key of a client, cancellations included. */
  maxFeesPerKeyAndDay?: string;
  /** The same by all keys of clients. What the house pays is in the sums of `gas`. */
  maxFeesPerDay?: string;
  /** By contract, `native`, `gas` (what the house pays) or `consolidation` (fees of joining outputs); what is not named is refused. */
  tokens: Record<string, TokenLimitsFile>;
  deniedAddresses?: string[];
  /** Where coins of the house may be withdrawn to; nowhere unless it is named here. */
  houseDestinations?: string[];
  /** Contracts that settlements may call to create a payer's wallet; none unless it is named here. */
  walletFactories?: string[];
}
interface TokenLimitsFile {
  maxAmount?: string;
  /** Sum of 24 hours by one key. */
  maxPerKeyAndDay?: string;
  /** Sum of 24 hours by all keys. */
  maxPerDay?: string;
}

const amount = Joi.string().pattern(/^(0|[1-9]\d{0,77})$/);
const tokenLimits = Joi.object<TokenLimitsFile>({ maxAmount: amount, maxPerKeyAndDay: amount, maxPerDay: amount });
const chainLimits = Joi.object<ChainLimitsFile>({
  maxFee: amount,
  maxFeesPerKeyAndDay: amount,
  maxFeesPerDay: amount,
  tokens: Joi.object().pattern(Joi.string().max(128), tokenLimits).required(),
  deniedAddresses: Joi.array().items(Joi.string().max(128)).max(100_000),
  houseDestinations: Joi.array().items(Joi.string().max(128)).max(100),
  walletFactories: Joi.array().items(Joi.string().max(128)).max(100),
});
const schema = Joi.object<LimitsFile>({
  chains: Joi.object().pattern(Joi.string().max(64), chainLimits).required(),
}).required();

interface ChainLimits {
  maxFee: bigint | null;
  fees: SumLimit;
  /** By canonical contract; empty: the native coin; `houseGas`, `consolidationFees`. */
  tokens: Map<string, SumLimit & { amount: bigint | null }>;
  denied: Set<string>;
  houseDestinations: Set<string>;
  walletFactories: Set<string>;
}

export interface ListedLimit {
  chain: string;
  /** Canonical contract; empty: the native coin; `houseGas`, `consolidationFees`; `feeSum`. */
  token: string;
  max_amount: string | null;
  max_per_key_and_day: string | null;
  max_per_day: string | null;
}

interface LimitsContext {
  registry: ChainRegistry;
  getFamily: (name: ChainFamily) => FamilyCodec;
}

/** What this node's operator allows it to sign, whatever the gateway asks for. */
export class NodeLimits {
  private constructor(private readonly chains: ReadonlyMap<string, ChainLimits>) {}

  /** @throws ConfigError naming what is wrong with the file; a field that is not known is refused and not ignored. */
  static read(file: string, context: LimitsContext): NodeLimits {
    let value: unknown;
    try {
      value = JSON.parse(readFileSync(file, 'utf8'));
    } catch (error) {
      throw new ConfigError(`MPC_NODE_LIMITS cannot be read (${(error as NodeJS.ErrnoException).code ?? 'not JSON'})`);
    }
    const result = schema.validate(value, { convert: false, errors: { wrap: { label: false } } });
    if (result.error) throw new ConfigError(`MPC_NODE_LIMITS: ${result.error.details[0]?.message}`);
    const chains = Object.entries(result.value.chains).map(([name, limits]) => {
      const chain = context.registry.find(name);
      if (!chain) throw new ConfigError(`MPC_NODE_LIMITS: this node does not serve the chain ${name}`);
      return [name, toChainLimits(limits, chain, context.getFamily(chain.family))] as const;
    });
    return new NodeLimits(new Map(chains));
  }

  /**
   * Why this node refuses, judged from the request alone; null if it does not. A client's cancellation moves nothing, and is how a
   * transfer ends that the limits of two nodes do not allow: its fee alone is limited, so it needs a chain that the file names. One of
   * the house is limited as everything that the house pays.
   */
  refusal({ kind, spends }: Pick<AdmissionRequest, 'kind' | 'spends'>): string | null {
    const chain = this.chains.get(spends.chain);
    if (!chain) return `chain ${spends.chain} is not allowed`;
    if (chain.maxFee !== null && spends.fee > chain.maxFee) return 'the network fee is above the highest allowed';
    if (kind === 'cancellation' && spends.token !== houseGas) return null;
    const token = chain.tokens.get(spends.token ?? '');
    if (!token) return unnamed.get(spends.token ?? '') ?? 'the token is not allowed';
    if (token.amount !== null && spends.amount > token.amount) return 'the amount is above the highest allowed';
    if (spends.recipients.some((recipient) => chain.denied.has(recipient))) return 'a recipient is denied';
    const isForeign = spends.recipients.some((recipient) => !chain.houseDestinations.has(recipient));
    if (spends.purpose === 'withdrawal' && isForeign) return noDestination;
    return spends.factory !== undefined && !chain.walletFactories.has(spends.factory) ? noFactory : null;
  }

  /** Every token that is allowed, and the fees of each chain, for operators; amounts as decimal digits. */
  list(): ListedLimit[] {
    return [...this.chains].flatMap(([chain, { maxFee, fees, tokens }]) =>
      [...tokens, [feeSum, { amount: maxFee, ...fees }] as const].map(([token, { amount, key, node }]) => ({
        chain,
        token,
        max_amount: amount?.toString() ?? null,
        max_per_key_and_day: key?.toString() ?? null,
        max_per_day: node?.toString() ?? null,
      })),
    );
  }

  /** Sums that the journal compares with. */
  sums({ spends }: Pick<AdmissionRequest, 'spends'>): SumLimits {
    const chain = this.chains.get(spends.chain);
    const name = spends.token ?? '';
    const token = chain?.tokens.get(name);
    return new Map<string, SumLimit>([
      ...(chain ? [[feeSum, chain.fees] as const] : []),
      ...(token ? [[name, { key: token.key, node: token.node }] as const] : []),
    ]);
  }
}

const noDestination = 'the recipient is no destination of the house';
const noFactory = 'the factory of the wallet is not allowed';

/**
 * The same of a node whose operator has set no limits: it withdraws nothing, since nobody has named a destination, and calls no factory of
 * wallets.
 */
export const refusalBy = (limits: NodeLimits | null, request: Pick<AdmissionRequest, 'kind' | 'spends'>): string | null => {
  if (limits) return limits.refusal(request);
  const { spends, kind } = request;
  if (spends.purpose === 'withdrawal' && kind !== 'cancellation') return noDestination;
  return spends.factory === undefined ? null : noFactory;
};

/** Why what has a limit of its own is refused where the file does not name it. */
const unnamed: ReadonlyMap<string, string> = new Map([
  [houseGas, 'what the house pays is not allowed'],
  [consolidationFees, 'joining outputs is not allowed'],
]);

function toChainLimits(
  { maxFee, maxFeesPerKeyAndDay, maxFeesPerDay, tokens, deniedAddresses = [], ...named }: ChainLimitsFile,
  chain: ChainDefinition,
  family: FamilyCodec,
): ChainLimits {
  const byContract = Object.entries(tokens).map(([name, limits]) => {
    const { maxAmount, maxPerKeyAndDay, maxPerDay } = limits;
    return [
      tokenKey(name, chain),
      { amount: toAmount(maxAmount), key: toAmount(maxPerKeyAndDay), node: toAmount(maxPerDay) },
    ] as const;
  });
  const toKeys = (addresses: string[]) =>
    addresses.map((address) => {
      const parsed = family.parseAddress(address);
      if (!parsed) throw new ConfigError(`MPC_NODE_LIMITS: ${address} is no address on ${chain.name}`);
      return parsed.key;
    });
  return {
    maxFee: toAmount(maxFee),
    fees: { key: toAmount(maxFeesPerKeyAndDay), node: toAmount(maxFeesPerDay) },
    tokens: new Map(byContract),
    denied: new Set(toKeys(deniedAddresses)),
    houseDestinations: new Set(toKeys(named.houseDestinations ?? [])),
    walletFactories: new Set(toKeys(named.walletFactories ?? [])),
  };
}

/** @throws ConfigError for a token that the chain does not have. */
function tokenKey(name: string, chain: ChainDefinition): string {
  if (unnamed.has(name)) return name;
  const token = tokenByContract(chain, name === 'native' ? null : name);
  if (!token) throw new ConfigError(`MPC_NODE_LIMITS: ${chain.name} has no token ${name}`);
  return token.contract ?? '';
}

const toAmount = (text: string | undefined): bigint | null => (text === undefined ? null : BigInt(text));
