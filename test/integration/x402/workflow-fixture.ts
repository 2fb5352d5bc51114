import { randomBytes } from 'node:crypto';
import { toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Sponsoring } from '../../../src/chains/payments';
import { ChainRegistry } from '../../../src/chains/registry';
import { contractArtifacts } from '../../../dev/contracts';
import type { ChainDefinition, Hex, TokenDefinition } from '../../../src/chains/types';
import { authorizationTypes } from '../../../src/chains/evm/payments/typed-data';
import { verifyLedger } from '../../../src/ledger/verify';
import { houseClientId } from '../../../src/platform/house';
import { newId } from '../../../src/platform/ids';
import { observationSignaller, transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { checkPayment } from '../../../src/x402/check';
import { claimPayment } from '../../../src/x402/settlement/claim';
import { toPaymentKey } from '../../../src/x402/settlement/claimed';
import { readPaymentRequest } from '../../../src/x402/wire/request';
import { randomAddress, signAs } from '../../factories';
import { type UncreatedWallet, walletFactory, wrapSignature } from '../../wallet-factory';
import { createFollowFixture } from '../following/fixture';
import { ServedChain, until } from '../transfers/served';
import { buildSettler } from './settlement-fixture';

export const ether = 10n ** 18n;
const domain = { name: 'USD Coin', version: '2' };

interface Accepting {
  sponsoring?: Sponsoring;
  topUp?: bigint;
  wallet?: UncreatedWallet;
}

/** An EVM chain whose blocks the test mines, a settler with 1 ETH, and somebody with 5 USDC who pays a client by authorisations. */
export async function createSettlementFixture(changes: Partial<ChainDefinition> = {}) {
  const fixture = await createFollowFixture(changes);
  const { database, chain, getFamily, alice } = fixture;
  const usdc = chain.tokens.find(({ symbol }) => symbol === 'USDC') as TokenDefinition;
  Object.assign(usdc, { takesAuthorisations: true, domain } satisfies Partial<TokenDefinition>);
  const { account: settler, wallet } = await buildSettler(database, chain);
  const payer = privateKeyToAccount(toHex(randomBytes(32)));
  const payTo = randomAddress();
  await fixture.send(settler, ether);
  await fixture.mint(payer, 5_000_000n);
  await fixture.mine(4);
  await fixture.follow();
  await database.query(
    `insert into x402_policies (client_id, chain, is_enabled, sponsors_permit, sponsors_approval, top_up_per_day)
     values ($1, $2, true, false, true, $3)`,
    [alice.clientId, chain.name, ether.toString()],
  );
  const registry = new ChainRegistry([chain]);

  /** The request for a payment of 1 USDC that can be executed for so many seconds. `paying`: a wallet of the payer, which need not exist. */
  const signPayment = async (seconds: number, paying?: UncreatedWallet) => {
    const now = Math.floor(Date.now() / 1000);
    const authorization = {
      ...{
        from: paying?.address ?? payer.address,
        to: payTo as Hex,
        value: '1000000',
        validAfter: '0',
        validBefore: String(now + seconds + 1),
      },
      nonce: toHex(randomBytes(32)),
    };
    const ofKey = await payer.signTypedData({
      domain: { ...domain, chainId: 1, verifyingContract: usdc.contract as Hex },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: { ...authorization, value: 1_000_000n, validAfter: 0n, validBefore: BigInt(now + seconds + 1) },
    });
    const signature = paying ? wrapSignature(walletFactory, paying.data, ofKey) : ofKey;
    const terms = { scheme: 'exact', network: chain.caip2, amount: '1000000', asset: usdc.contract, payTo, extra: domain };
    return {
      ...{ x402Version: 2, paymentRequirements: terms },
      paymentPayload: { x402Version: 2, accepted: terms, payload: { signature, authorization } },
    };
  };

  /**
   * Such a payment, accepted for Alice's client; returns its tx_id. `sponsoring`: an approval to be executed before it, of which the payer
   * lacks `topUp`.
   */
  const accept = async (seconds: number, { sponsoring, topUp = 0n, wallet: paying }: Accepting = {}): Promise<string> => {
    const read = readPaymentRequest(await signPayment(seconds, paying), registry, 'settle');
    if ('reason' in read) throw new Error(read.reason);
    const context = {
      now: 0,
      settlers: new Set<string>(),
      sponsors: { permit: false, approval: false },
      walletFactories: new Set<string>([walletFactory]),
    };
    const checked = checkPayment(read.request, context);
    if ('reason' in checked) throw new Error(checked.reason);
    const key = toPaymentKey(read.request);
    if (!key) throw new Error('the payment has no identity');
    const txId = newId();
    const payment = { ...checked.payment, ...(sponsoring && { sponsoring }) };
    await database.transaction((manager) =>
      claimPayment(manager, getFamily, {
        ...{ txId, clientId: alice.clientId, userId: newId(), requestId: newId(), version: 2, scheme: 'exact', payment },
        ...{ key, sender: settler.address, gasBound: 1n, topUp, topUpFeeBound: 1n },
      }),
    );
    return txId;
  };
  const signatures = (unsigned: Hex): Hex[] => signAs(wallet, settler, unsigned, { getFamily });
  return { ...fixture, wallet, signatures, settler, payer, payTo, usdc, signPayment, accept };
}

export type SettlementFixture = Awaited<ReturnType<typeof createSettlementFixture>>;

/** Atomic units of USDC. */
export async function tokensOf({ anvil, usdc }: SettlementFixture, address: string): Promise<bigint> {
  const { abi } = (await contractArtifacts()).TestUSDC;
  const token = { address: usdc.contract as Hex, abi };
  return (await anvil.client.readContract({ ...token, functionName: 'balanceOf', args: [address] })) as bigint;
}

/** What the house was charged, and for which settlement. */
export const chargesIn = ({ database }: SettlementFixture) =>
  database.query<{ parent_tx_id: string; amount: string; status: string }[]>(
    `select parent_tx_id, amount, status from transactions where transaction_type = 'GAS' order by tx_id`,
  );

/** The settler has on the chain what the ledger says, and the ledger verifies. */
export async function settlerBooksAgree(fixture: SettlementFixture): Promise<void> {
  const available = await fixture.anvil.client.getBalance({ address: fixture.settler.address as Hex });
  expect(await fixture.balance(fixture.settler, 'ETH')).toEqual({ available, locked: 0n });
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
}

export class ServedSettlements extends ServedChain<SettlementFixture> {
  /** Mines and follows, and signals the workflows, until the settlement is in this state. */
  override ends(txId: string, as: string): Promise<void> {
    return until(`${txId} is ${as}`, async () => {
      await this.fixture.mine();
      await this.fixture.follow({ signalTransfer: observationSignaller(this.client) });
      return (await this.status(txId)) === as;
    });
  }

  /** Accepts a payment that can be executed for so many seconds, and starts its workflow. */
  async settle(seconds: number, accepting?: Accepting): Promise<string> {
    const txId = await this.fixture.accept(seconds, accepting);
    await this.begin(txId);
    return txId;
  }

  /** Starts the workflow of a payment that was accepted. */
  begin(txId: string): Promise<void> {
    return this.start(txId, this.fixture.alice.clientId, 'USDC');
  }

  /** Starts the workflow of what a settlement needs first, as the dispatcher does; returns its tx_id. */
  async startTopUp(txId: string): Promise<string> {
    let topUpId = '';
    await until('a top-up', async () => {
      const rows = await this.fixture.database.query<{ tx_id: string }[]>(
        `select tx_id from transactions where parent_tx_id = $1 and transaction_type = 'GAS_TOPUP'`,
        [txId],
      );
      topUpId = rows[0]?.tx_id ?? '';
      return rows.length > 0;
    });
    await this.start(topUpId, houseClientId, 'ETH');
    return topUpId;
  }

  private async start(txId: string, clientId: string, tokenSymbol: string): Promise<void> {
    const { name: chain } = this.fixture.chain;
    await transferWorkflowsOn(this.client).start({ txId, clientId, chain, tokenSymbol, requestId: null, retryOf: null });
  }
}
