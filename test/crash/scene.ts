import type { Address } from 'viem';
import { devChain, type DevChain } from '../../dev/chain';
import { getFamily } from '../../src/chains/families';
import { loadRegistry } from '../../src/chains/registry';
import { gatewayQuery } from '../adversary/processes';
import { gateway } from '../e2e/gateway';
import { balances, fundedAccount, newAccount, transactionWhen, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { fixtureOf } from '../families';
import type { FamilyFixture } from '../families/fixture';
import { fund, sharedWallet, stack, waitFor } from '../stack/client';
import { resumeAll } from '../stack/pause';
import { heldAddress } from './breakpoints';
import type { Gap } from './gap';
import { gapNames, gapOf, type GapName, isHeld } from './gaps';
import { type Held, Holds } from './holds';
import { NodeHolds } from './node-holds';
import { submit, type Submission } from './submit';

export const amount = '0.01';
export const replacementGap = 'prepare: a replacement' satisfies GapName;
const beforeSigning = 'prepare: enterSigning' satisfies GapName;

/** Until every transfer is in its gap: a replacement begins 45 s after the first attempt, and a held statement that times out is tried again. */
export const reachMs = 90_000;

/** Where each has a key of its own, the nodes generate so many at once. */
const accountsAtOnce = 4;

export interface InGap {
  name: GapName;
  account: Account;
  to: string;
  submission: Promise<Submission>;
  /** Another one than the gap's. */
  chain?: string;
}

type Chain = Gap['chain'];
export const chainOf = (name: Chain): DevChain => devChain(stack().chains[name]?.rpc ?? '');

/** What is held of it in the gateway's database. */
export function heldOf({ name, account, to, chain = gapOf(name).chain }: Omit<InGap, 'submission'>): Held | undefined {
  if (!isHeld(name)) return undefined;
  return { gap: name, address: heldAddress(name, { sender: account.address, recipient: keyOf(chain, to) }) };
}

/** As lists and transactions compare it. */
function keyOf(chain: string, address: string): string {
  const { family } = loadRegistry('local', [chain]).get(chain);
  return getFamily(family).parseAddress(address)?.key ?? '';
}

/** What all rounds share: an account for every gap, so that no transfer waits for another one's nonce, and the holds. */
export class Scene {
  /** Its transfer waits for its inclusion in vain: the next round's. */
  private stuck: Promise<InGap> | undefined;
  private stuckSent = 0;

  private constructor(
    readonly holds: Holds,
    readonly nodes: NodeHolds,
    private readonly accounts: Map<GapName, Account>,
    /** Two, since the next round's transfer is sent while this round's is not over. */
    private readonly stuckAccounts: Account[],
  ) {}

  static async setUp(): Promise<Scene> {
    await haveApproved();
    const created = gapNames.map(async (name) => [name, await fundedAccount(gapOf(name).chain, { ETH: '1' })] as const);
    const [accounts, stuckAccounts] = await Promise.all([
      Promise.all(created),
      Promise.all([1, 2].map(() => fundedAccount('base', { ETH: '1' }))),
    ]);
    // so that there is a nonce below their next one
    await Promise.all(stuckAccounts.map(transferOnce));
    const holds = await Holds.install(stack().postgres.url, { withReads: true });
    return new Scene(holds, await NodeHolds.install(), new Map(accounts), stuckAccounts);
  }

  /** With gaps of one chain (`accountsOn`), and no transfer of another round. */
  static async setUpOn(accounts: Map<GapName, Account>): Promise<Scene> {
    await haveApproved();
    const holds = await Holds.install(stack().postgres.url, { withReads: true });
    return new Scene(holds, await NodeHolds.install(), accounts, []);
  }

  /** Whatever is held or paused goes on, but the next round's transfer, which is to be replaced. `isPaused`: what is paused stays so. */
  async release({ isPaused = false } = {}): Promise<void> {
    if (!isPaused) resumeAll();
    await chainOf('ethereum').setIntervalMining({ interval: 1 });
    const next = await this.stuck?.catch(() => undefined);
    await Promise.all([this.holds.releaseAll({ except: next?.account.address }), this.nodes.releaseAll()]);
  }

  async tearDown(): Promise<void> {
    await this.release();
    await this.holds.remove();
    await this.nodes.remove();
    await gateway(['client', 'policy', 'demo', '--whitelist', 'off']);
  }

  /** A transfer that is going to its gap, or waits for what it has to wait for first. `account`: another one than the gap's own. */
  async send(name: GapName, account = this.accountOf(name), chain: string = gapOf(name).chain): Promise<InGap> {
    const { isUnlisted, beginsLater } = gapOf(name);
    const to = fixtureOf(chain).newAddress();
    if (!isUnlisted) await list('WHITELIST', account, chain, to);
    const held = heldOf({ name, account, to, chain });
    if (held) await this.holds.hold(held.gap, held.address);
    if (beginsLater) await this.holds.hold(beforeSigning, account.address);
    const submission = submit(account, to, fixtureOf(chain).amount(amount), { chain });
    // a round that fails does not await it
    submission.catch(() => undefined);
    if (beginsLater) await this.holds.reached(beforeSigning, reachMs, account.address);
    if (isUnlisted) await transactionWhen((await submission).txId, ['AWAITING_APPROVAL'], reachMs);
    return { name, account, to, submission, chain };
  }

  /** Lets one that begins later begin to sign. */
  letBegin({ account }: InGap): Promise<void> {
    return this.holds.release(beforeSigning, account.address);
  }

  /** This round's transfer that is about to be replaced; the next round's is sent. */
  async takeStuck({ isLast }: { isLast: boolean }): Promise<InGap> {
    const sent = this.stuck ?? this.sendStuck();
    // one that fails is this round's failure alone
    this.stuck = undefined;
    const current = await sent;
    this.stuck = isLast ? undefined : this.sendStuck();
    this.stuck?.catch(() => undefined);
    return current;
  }

  /** SUBMITTED already, or there is none. */
  async stuckIsSent(): Promise<void> {
    await this.stuck;
  }

  accountOf(name: GapName): Account {
    const account = this.accounts.get(name);
    if (!account) throw new Error(`gap ${name} has no account`);
    return account;
  }

  /** No block takes it: the nonce below its own is not used. */
  private async sendStuck(): Promise<InGap> {
    const account = this.stuckAccounts[this.stuckSent % this.stuckAccounts.length] as Account;
    this.stuckSent += 1;
    const sent = await this.send(replacementGap, account);
    await moveNonce(account, -1);
    await this.letBegin(sent);
    await transactionWhen((await sent.submission).txId, ['SUBMITTED'], 60_000);
    return sent;
  }
}

/** An account for each of these gaps, all on one chain. */
export async function accountsOn(
  { chain, symbol, amount: coins }: FamilyFixture,
  names: readonly GapName[],
): Promise<Map<GapName, Account>> {
  const accounts = new Map<GapName, Account>();
  for (let from = 0; from < names.length; from += accountsAtOnce) {
    const create = async (name: GapName) => accounts.set(name, await newAccount(chain));
    await Promise.all(names.slice(from, from + accountsAtOnce).map(create));
  }
  for (const { address } of accounts.values()) await fund(chain, symbol, address, coins('0.5'));
  for (const { account_id: id } of accounts.values())
    await waitFor(async () => (await balances(id, chain))[symbol]?.balance === coins('0.5'), { timeoutMs: 60_000 });
  return accounts;
}

async function haveApproved(): Promise<void> {
  expect(await gateway(['client', 'policy', 'demo', '--whitelist', 'approve', '--cooling', '0'])).toMatchObject({ code: 0 });
  // before the accounts that wait for it
  await sharedWallet();
}

/** Moves the number of transactions that `base` counts of an account. */
export async function moveNonce({ address }: Account, by: 1 | -1): Promise<void> {
  const chain = chainOf('base');
  const nonce = (await chain.getTransactionCount({ address: address as Address })) + by;
  await chain.setNonce({ address: address as Address, nonce });
}

async function transferOnce(account: Account): Promise<void> {
  const to = randomAddress();
  await list('WHITELIST', account, 'base', to);
  await transactionWhen((await submit(account, to, amount, { chain: 'base' })).txId, ['CONFIRMED']);
}

/** Adds an address to a list of the client. */
export const list = (type: 'WHITELIST' | 'BLACKLIST', { account_id: id }: Account, chain: string, to: string): Promise<unknown> =>
  gatewayQuery(
    `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
     select gen_random_uuid(), a.client_id, $1, $2, $3, $4, u.user_id
       from accounts a join users u using (client_id) where a.account_id = $5 limit 1`,
    [type, chain, to, keyOf(chain, to), id],
  );
