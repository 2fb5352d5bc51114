import type { Prepared } from '../../src/chains/types';
import { ledgerDifferences } from '../e2e/ledger';
import { accountWith, call, ends, fundedAccount, transactionWhen, transferAndWait, type Account } from '../e2e/support';
import type { FamilyFixture } from '../families/fixture';
import { randomAddress } from '../factories';
import { claimsOf } from '../orders';
import { createActiveWallet } from '../stack/client';
import { pause, resumeAll } from '../stack/pause';
import { gatewayQuery } from './processes';
import { recordDifferences } from './records';
import { TemporalClient } from './temporal-client';
import { amount, chain, type OrderedTransfer } from './transfers';

export interface OwnedAccount extends Account {
  walletId: string;
  keyId: string;
}

interface SceneOptions {
  /** So that a ban of its key concerns no other test file. */
  ownWallet?: boolean;
  /** Another family, with deposits in display units. */
  fixture?: FamilyFixture;
  deposits?: string[];
  /** Where what is prepared for an attempt does not last. */
  renew?: (prepared: Prepared) => Promise<Prepared>;
}

/** What every file begins with; afterwards ledger and records must be in order. */
export class Scene {
  temporal!: TemporalClient;
  account!: OwnedAccount;
  /** They go on when the worker is back. */
  private readonly left: { txId: string }[] = [];

  /** `isAlone`: it is the only one of its file. */
  constructor(
    private readonly options: SceneOptions = {},
    isAlone = true,
  ) {
    if (isAlone) Scene.begin([this]);
  }

  protected static begin(scenes: readonly Scene[]): void {
    let temporal: TemporalClient | undefined;
    beforeAll(async () => {
      temporal = await TemporalClient.connect();
      for (const scene of scenes) scene.temporal = temporal;
      await Promise.all(scenes.map((scene) => scene.setUp()));
    });
    afterAll(async () => {
      await Promise.all(scenes.map((scene) => scene.areConfirmed()));
      await temporal?.close();
      expect(await ledgerDifferences()).toEqual([]);
      expect(await recordDifferences()).toEqual([]);
    });
  }

  private async setUp(): Promise<void> {
    const { ownWallet = false, fixture, deposits = [] } = this.options;
    const walletId = ownWallet ? (await createActiveWallet()).wallet_id : undefined;
    this.account = await withKey(
      fixture ? await accountWith(fixture, deposits, walletId) : await fundedAccount(chain, { ETH: '5' }, walletId),
    );
    // later transfers take over what its chain activity has prepared
    const { status } = await transferAndWait(this.transfer(this.newRecipient()));
    expect(status).toBe('CONFIRMED');
  }

  /** Accepted by the API. */
  async accept(to = this.newRecipient()): Promise<{ txId: string; to: string }> {
    const { status, body } = await call('POST', '/transfer', { body: this.transfer(to) });
    if (status !== 202) throw new Error(`transfer: ${status} ${JSON.stringify(body)}`);
    return { txId: body.tx_id as string, to };
  }

  /** Nothing more is done about it; it has to be confirmed when the file ends, to which the others do not wait. */
  leave(transfer: { txId: string }): void {
    this.left.push(transfer);
  }

  private async areConfirmed(): Promise<void> {
    for (const transfer of this.left) await isConfirmed(transfer);
  }

  /** What the chain activity of the account's first transfer has prepared, as it would be now. */
  async prepared(): Promise<Prepared> {
    const [row] = await gatewayQuery<{ prepared: Prepared }>(
      `select a.prepared from transfer_attempts a join transactions t using (tx_id)
        where t.from_address = $1 and a.kind = 'first' order by a.signing_begun_at limit 1`,
      [this.account.address],
    );
    if (!row) throw new Error('the account has sent nothing yet');
    return this.options.renew?.(row.prepared) ?? row.prepared;
  }

  /** Accepts a transfer and has its first attempt ordered, as whoever reaches Temporal can. Call it without the worker. */
  async order(): Promise<OrderedTransfer> {
    const accepted = await this.accept();
    const request = { txId: accepted.txId, lastAttempt: 0, kind: 'first', prepared: await this.prepared() } as const;
    const begun = await this.temporal.beginSigning(request);
    if (begun.outcome !== 'begun') throw new Error(`the authoriser answered ${JSON.stringify(begun)}`);
    return { ...accepted, unsigned: begun.unsigned, order: begun.order, claims: claimsOf(begun.order) };
  }

  private newRecipient(): string {
    return this.options.fixture?.newAddress() ?? randomAddress();
  }

  private transfer(to: string) {
    const { chain: name, symbol } = this.options.fixture ?? { chain, symbol: 'ETH' };
    return { from_address: this.account.address, to_address: to, chain: name, token_symbol: symbol, amount };
  }
}

/** While the worker is away, no workflow goes on: what happens to transfers is what the test does. */
export async function withoutWorker<T>(work: () => Promise<T>): Promise<T> {
  pause('worker');
  try {
    return await work();
  } finally {
    resumeAll();
  }
}

export const isConfirmed = async ({ txId }: { txId: string }): Promise<void> =>
  expect((await transactionWhen(txId, ends, 120_000)).status).toBe('CONFIRMED');

/** The recipient of a transfer, by its client. */
export const blacklist = ({ txId, to }: { txId: string; to: string }): Promise<unknown> =>
  gatewayQuery(
    `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
     select gen_random_uuid(), client_id, 'BLACKLIST', chain, $2, lower($2), requested_by from transactions where tx_id = $1`,
    [txId, to],
  );

async function withKey(account: Account): Promise<OwnedAccount> {
  const [row] = await gatewayQuery<{ walletId: string; keyId: string }>(
    `select wallet_id as "walletId", key_id as "keyId" from accounts where account_id = $1`,
    [account.account_id],
  );
  if (!row) throw new Error('the account is not stored');
  return { ...account, ...row };
}
