import type { Address } from 'viem';
import type { DataSource } from 'typeorm';
import { EvmPaymentClient } from '../../../src/chains/evm/payments/client';
import { Endpoints } from '../../../src/chains/evm/rpc';
import type { PaymentClient } from '../../../src/chains/payments';
import { type Payers, startPayers } from '../dev/payers';
import { fundAccount, setFeeLevels } from '../../factories';
import { placeFactory, walletFactory } from '../../wallet-factory';
import { buildTenant, createFixture, type Fixture, registry, type Tenant, tokenOptions } from '../http/fixture';
import { buildSettler } from './settlement-fixture';

export const base = registry.get('base');

/** Asks one node about payments on base. */
export const paymentsOn = (rpc: string): ReadonlyMap<string, PaymentClient> =>
  new Map([[base.name, new EvmPaymentClient(base, new Endpoints(base, [rpc]))]]);

/** What an operator says with `gateway x402 policy`. */
export const setPolicy = (
  database: DataSource,
  { clientId }: { clientId: string },
  { chain = 'base', isEnabled = true, sponsors = false, walletFactories = [] as string[] } = {},
): Promise<unknown> =>
  database.query(
    `insert into x402_policies (client_id, chain, is_enabled, sponsors_permit, sponsors_approval, top_up_per_day, wallet_factories)
     values ($1, $2, $3, $4, $4, 0, $5)`,
    [clientId, chain, isEnabled, sponsors, walletFactories],
  );

/** The address of a new primary settler of base; `coins`: what it has, atomic units. */
export async function buildPrimary(database: DataSource, coins = 0n): Promise<Address> {
  const { settler, account } = await buildSettler(database, base);
  if (coins > 0n) await fundAccount(database, account, base, 'ETH', coins);
  await database.query('update settlers set is_primary = true where settler_id = $1', [settler.settlerId]);
  return account.address as Address;
}

export interface SellerScene {
  payers: Payers;
  fixture: Fixture;
  /** May have payments settled on base. */
  seller: Tenant;
  primary: Address;
  close(): Promise<void>;
}

/**
 * The API with one chain on which somebody pays, a primary settler there with these coins, and a client that sells. `createsWallets`: the
 * client may have wallets created by the factory of tests. `reach`: the url by which the API asks the chain's node.
 */
export async function openShop({
  sponsors = false,
  coins = 0n,
  createsWallets = false,
  reach = (rpc: string): string | Promise<string> => rpc,
} = {}): Promise<SellerScene> {
  const payers = await startPayers();
  // long runs of properties last longer than a token usually does
  const tokens = { ...tokenOptions, ttlSeconds: 3_600 };
  const fixture = await createFixture({ payments: paymentsOn(await reach(payers.anvil.rpc)), tokens });
  const seller = await buildTenant(fixture);
  if (createsWallets) await placeFactory(payers.anvil.chain);
  await setPolicy(fixture.database, seller, { sponsors, walletFactories: createsWallets ? [walletFactory] : [] });
  const primary = await buildPrimary(fixture.database, coins);
  await setFeeLevels(fixture.database, base);
  const close = async () => {
    await fixture.close();
    await payers.anvil.stop();
  };
  return { payers, fixture, seller, primary, close };
}
