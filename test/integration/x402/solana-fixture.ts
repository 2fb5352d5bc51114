import { setTimeout as delay } from 'node:timers/promises';
import type { Address } from '@solana/kit';
import { OwnAddresses } from '../../../src/accounts/own-addresses';
import { getFamily } from '../../../src/chains/families';
import type { Family } from '../../../src/chains/family';
import { ChainRegistry } from '../../../src/chains/registry';
import { solana } from '../../../src/chains/registry/solana';
import { SolanaChainClient } from '../../../src/chains/solana/client';
import { SolanaPaymentClient } from '../../../src/chains/solana/payments/client';
import type { ChainDefinition, Hex, JsonObject } from '../../../src/chains/types';
import { WorkflowOutbox } from '../../../src/outbox/outbox';
import { createLogger } from '../../../src/platform/logging';
import { newId } from '../../../src/platform/ids';
import { transferDeliveries } from '../../../src/transfers/start/deliveries';
import { StartLimits } from '../../../src/transfers/start/start-limits';
import { observationSignaller, transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { AttestedKeys } from '../../../src/wallets/attested-keys';
import { ServedChains } from '../../../src/x402/served';
import { SettlementService } from '../../../src/x402/settlement/service';
import { SettlementWatch } from '../../../src/x402/settlement/watch';
import { PaymentVerifier } from '../../../src/x402/verify';
import { signAs } from '../../factories';
import { nodeKeys } from '../../node-refusals';
import { sol, TestChain } from '../../solana-chain';
import { bodyOf, type Holder, limit, makeHolder, memo, offer, pay, price, terms } from '../../unit/x402/solana/scene';
import { createChainFixture } from '../following/chain-fixture';
import { ServedChain, until } from '../transfers/served';
import { buildSettler } from './settlement-fixture';

/** A Solana chain whose blocks the test makes, a settler with 5 SOL, and somebody with 5 USDC who pays a client by transactions. */
export async function createSolanaFixture(changes: Partial<ChainDefinition> = {}) {
  const solanaChain = await TestChain.start({ confirmed: 1, finalized: 2, skipEvery: 0 });
  const chain: ChainDefinition = { ...(solana.local[0] as ChainDefinition), ...changes };
  const urls = [`${solanaChain.local.url}?rate=1000`];
  const client = new SolanaChainClient(chain, urls);
  const fixture = await createChainFixture({ client, getFamily, symbols: ['SOL', 'USDC'] });
  const { database, alice } = fixture;
  const { account: settler, wallet } = await buildSettler(database, chain);
  const [payer, seller] = [await makeHolder(solanaChain, 5_000_000n), await makeHolder(solanaChain, 1n)];
  await solanaChain.client.fund(settler.address, sol(5));
  await solanaChain.mine(4);
  await fixture.follow();
  await database.query(
    `insert into x402_policies (client_id, chain, is_enabled, sponsors_permit, sponsors_approval, top_up_per_day)
     values ($1, $2, true, false, false, 0)`,
    [alice.clientId, chain.name],
  );
  const ownKeys = [[settler.keyId, { publicKey: Buffer.from(settler.addressKey, 'hex'), chainCode: new Uint8Array() }]] as const;
  const mine = async (blocks = 1) => void (await solanaChain.mine(blocks));
  const signatures = (unsigned: Hex, from: string): Hex[] =>
    from === settler.address ? signAs(wallet, settler, unsigned, { getFamily }) : fixture.signatures(unsigned, from);
  /** Atomic units of USDC. */
  const tokensOf = async ({ address }: Pick<Holder, 'address'>): Promise<bigint> => {
    const { value } = await solanaChain.rpc
      .getTokenAccountsByOwner(address, { mint: usdcOf(chain) }, { encoding: 'jsonParsed' })
      .send();
    return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n);
  };
  const close = async () => {
    await fixture.close();
    await solanaChain.local.stop();
  };
  return {
    ...{ ...fixture, close, mine, signatures, wallet, settler, payer, seller, tokensOf, solanaChain, urls },
    ownKeys: ownKeys.map(([id, key]): [string, typeof key] => [id, key]),
  };
}

const usdcOf = ({ tokens }: ChainDefinition): Address => tokens.find(({ symbol }) => symbol === 'USDC')?.contract as Address;

export type SolanaFixture = Awaited<ReturnType<typeof createSolanaFixture>>;

/** A transaction for 1,000 atomic units, with a text that tells it from others. */
export async function offered({ settler, payer, seller, solanaChain }: SolanaFixture, text = newId()): Promise<string> {
  const scene = {
    ...{ payer, seller: seller.address, settler: { ...payer, address: settler.address as Address } },
    blockhash: (await solanaChain.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()).value.blockhash,
  };
  return offer(scene, { instructions: [limit(), price(), await pay(scene), memo(text)] });
}

/** The body of /settle for a transaction that pays 1,000 atomic units. */
export const bodyFor = ({ settler, seller, chain }: SolanaFixture, version: 1 | 2, transaction: string): JsonObject =>
  bodyOf(version, { transaction }, terms({ seller: seller.address, settler }, version, chain.caip2));

const limits = { maxInFlight: 100, maxPending: 1_000, maxPendingPerClient: 1_000 };
const silent = createLogger('test', 'error');
silent.level = 'silent';

export class ServedPayments extends ServedChain<SolanaFixture> {
  /** /settle without HTTP; a request waits `waitMs`. */
  settling(waitMs: number, maxOpenSettlements?: number) {
    const { database, chain } = this.fixture;
    const limited = (name: string): Family => ({ ...getFamily(name), ...(maxOpenSettlements && { maxOpenSettlements }) });
    const registry = new ChainRegistry([chain]);
    const starts = new StartLimits(limits, () => Promise.resolve(new Map()));
    const workflows = transferWorkflowsOn(this.client);
    const deliveries = {
      ...transferDeliveries({ database, workflows, starts, log: silent }),
      start_key_generation: () => Promise.resolve('delivered' as const),
    };
    const payments = new Map([[chain.name, new SolanaPaymentClient(chain, this.fixture.urls)]]);
    const addresses = new OwnAddresses(new AttestedKeys(nodeKeys, silent), getFamily, silent);
    const served = new ServedChains({ database, registry, payments, addresses });
    const service = new SettlementService({
      ...{ database, registry, getFamily: limited, starts, watch: new SettlementWatch(database) },
      outbox: new WorkflowOutbox(database, deliveries, silent),
      verifier: new PaymentVerifier({ database, getFamily, served }),
      waitMs: { 1: waitMs, 2: waitMs, longest: 2 * waitMs },
    });
    return {
      served,
      settle: (body: JsonObject, clientId = this.fixture.alice.clientId) =>
        service.settle({ clientId, userId: newId(), requestId: newId() }, body, 'usual', silent),
    };
  }

  /** Makes a block, follows, and signals the workflows. */
  async step(blocks = 1): Promise<void> {
    await this.fixture.mine(blocks);
    await this.fixture.follow({ signalTransfer: observationSignaller(this.client) });
  }

  /** Makes blocks until `work` is done, each so long after the one before. */
  async during<T>(work: Promise<T>, pauseMs = 20): Promise<T> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    done.catch(() => undefined);
    while (!isDone) {
      await this.step();
      await delay(pauseMs);
    }
    return done;
  }

  override ends(txId: string, as: string): Promise<void> {
    return until(`${txId} is ${as}`, async () => {
      await this.step();
      return (await this.status(txId)) === as;
    });
  }
}
