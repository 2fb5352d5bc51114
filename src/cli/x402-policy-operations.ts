import type { DataSource, EntityManager } from 'typeorm';
import { enabledChain } from '../accounts/service';
import { audit } from '../audit/log';
import type { GetFamily } from '../chains/family';
import { schemesOf } from '../chains/payment-methods';
import type { ChainRegistry } from '../chains/registry';
import type { ChainDefinition } from '../chains/types';
import { inTransaction } from '../platform/database';
import { invalidParameter } from '../platform/errors';
import { formatAmount } from '../platform/money';
import { noPolicy, readPolicies, type X402Policy } from '../x402/policies';
import { type Reasoned, withReason } from './confirmation';
import { readAmount } from './amounts';
import { currentOperator } from './operator';

/** As operators see it: amounts in display units. */
export interface ShownPolicy {
  settle: string;
  gasPerDay: string;
  sponsorPermit: string;
  sponsorApproval: string;
  topUpPerDay: string;
  /** Separated by commas. */
  walletFactories: string;
  /** A whole number, or unlimited. */
  failuresPerPayer: string;
}

/** Options of the command line. Omitted values stay unchanged. */
export type X402PolicyChange = Partial<ShownPolicy> & Reasoned;

/** Operations on what the house pays for its clients. */
export class X402PolicyOperations {
  constructor(
    private readonly database: DataSource,
    private readonly registry: ChainRegistry,
    private readonly getFamily: GetFamily,
  ) {}

  /** @throws GatewayError invalid_parameter for a chain that is not enabled. */
  async show(clientId: string, chainName: string): Promise<ShownPolicy> {
    const chain = enabledChain(this.registry, chainName);
    return this.toShown(await read(this.database.manager, clientId, chain.name), chain);
  }

  /** @throws GatewayError invalid_parameter, for a chain on which no payments are settled too. */
  async set(clientId: string, chainName: string, options: X402PolicyChange): Promise<ShownPolicy> {
    const definition = enabledChain(this.registry, chainName);
    const { name: chain, native } = definition;
    if (schemesOf(definition.family).length === 0) throw invalidParameter('chain', `no payments are settled on ${chain}`);
    const changes = this.readChanges(options, definition);
    return inTransaction(this.database, async (manager) => {
      // the first policy of a client has no row that could be locked
      await manager.query('select 1 from clients where client_id = $1 for no key update', [clientId]);
      const before = await read(manager, clientId, chain);
      const policy = { ...before, ...changes };
      if (policy.isEnabled && !before.isEnabled && options.gasPerDay === undefined && policy.gasPerDay === null)
        throw invalidParameter('--gas-per-day', `is needed: an amount of ${native.symbol}, or ${unlimited}`);
      await store(manager, clientId, chain, policy);
      const shown = this.toShown(policy, definition);
      const { settle, gasPerDay, sponsorPermit, sponsorApproval, topUpPerDay, walletFactories, failuresPerPayer } = shown;
      await audit(manager, {
        action: 'x402.policy_changed',
        outcome: 'success',
        actor: currentOperator(),
        clientId,
        subject: { type: 'client', id: clientId },
        detail: {
          ...{ chain, settle, gas_per_day: gasPerDay, sponsor_permit: sponsorPermit, sponsor_approval: sponsorApproval },
          ...{ top_up_per_day: topUpPerDay, wallet_factories: walletFactories, failures_per_payer: failuresPerPayer },
          ...withReason(options.reason),
        },
      });
      return shown;
    });
  }

  private readChanges(
    { settle, gasPerDay, sponsorPermit, sponsorApproval, topUpPerDay, walletFactories, failuresPerPayer }: X402PolicyChange,
    chain: ChainDefinition,
  ): Partial<X402Policy> {
    const { native } = chain;
    return {
      ...(settle !== undefined && { isEnabled: readRule('--settle', settle) }),
      ...(gasPerDay !== undefined && {
        gasPerDay: gasPerDay === unlimited ? null : readAmount('--gas-per-day', gasPerDay, native),
      }),
      ...(sponsorPermit !== undefined && { sponsorsPermit: readRule('--sponsor-permit', sponsorPermit) }),
      ...(sponsorApproval !== undefined && { sponsorsApproval: readRule('--sponsor-approval', sponsorApproval) }),
      ...(topUpPerDay !== undefined && { topUpPerDay: readAmount('--top-up-per-day', topUpPerDay, native) }),
      ...(walletFactories !== undefined && { walletFactories: this.readFactories(walletFactories, chain) }),
      ...(failuresPerPayer !== undefined && { failuresPerPayer: readFailures(failuresPerPayer) }),
    };
  }

  /** In canonical form, each once. */
  private readFactories(text: string, { name, family }: ChainDefinition): string[] {
    if (text === none) return [];
    const codec = this.getFamily(family);
    const keys = text.split(',').map((address) => {
      const parsed = codec.parseAddress(address.trim());
      if (!parsed) throw invalidParameter('--wallet-factories', `${address.trim()} is no address on ${name}`);
      return parsed.key;
    });
    const distinct = [...new Set(keys)];
    if (distinct.length > maxFactories) throw invalidParameter('--wallet-factories', `names at most ${maxFactories} contracts`);
    return distinct;
  }

  private toShown(policy: X402Policy, { native: { decimals }, family }: ChainDefinition): ShownPolicy {
    const codec = this.getFamily(family);
    const factories = policy.walletFactories.map((key) => codec.parseAddress(key)?.address ?? key);
    return {
      settle: toRule(policy.isEnabled),
      gasPerDay: policy.gasPerDay === null ? unlimited : formatAmount(policy.gasPerDay, decimals),
      sponsorPermit: toRule(policy.sponsorsPermit),
      sponsorApproval: toRule(policy.sponsorsApproval),
      topUpPerDay: formatAmount(policy.topUpPerDay, decimals),
      walletFactories: factories.join(',') || none,
      failuresPerPayer: policy.failuresPerPayer?.toString() ?? unlimited,
    };
  }
}

const read = async (manager: EntityManager, clientId: string, chain: string): Promise<X402Policy> =>
  (await readPolicies(manager, clientId)).get(chain) ?? noPolicy;

const store = (manager: EntityManager, clientId: string, chain: string, policy: X402Policy): Promise<unknown> =>
  manager.query(
    `insert into x402_policies (client_id, chain, is_enabled, gas_per_day, sponsors_permit, sponsors_approval, top_up_per_day,
       wallet_factories, failures_per_payer)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (client_id, chain) do update set is_enabled = excluded.is_enabled, gas_per_day = excluded.gas_per_day,
       sponsors_permit = excluded.sponsors_permit, sponsors_approval = excluded.sponsors_approval,
       top_up_per_day = excluded.top_up_per_day, wallet_factories = excluded.wallet_factories,
       failures_per_payer = excluded.failures_per_payer`,
    [
      ...[clientId, chain, policy.isEnabled, policy.gasPerDay?.toString() ?? null],
      ...[policy.sponsorsPermit, policy.sponsorsApproval, policy.topUpPerDay.toString(), policy.walletFactories],
      policy.failuresPerPayer,
    ],
  );

const unlimited = 'unlimited';
const none = 'none';
/** As the table allows. */
const maxFactories = 20;
const maxFailures = 1_000;
const toRule = (isAllowed: boolean): string => (isAllowed ? 'allow' : 'refuse');

function readRule(option: string, text: string): boolean {
  if (text !== 'allow' && text !== 'refuse') throw invalidParameter(option, 'must be allow or refuse');
  return text === 'allow';
}

/** null: no limit. */
function readFailures(text: string): number | null {
  if (text === unlimited) return null;
  const count = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > maxFailures)
    throw invalidParameter('--failures-per-payer', `must be a whole number from 1 to ${maxFailures}, or ${unlimited}`);
  return count;
}
