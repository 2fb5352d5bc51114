import { secp256k1 } from '@noble/curves/secp256k1.js';
import { createChainActivities } from '../../../activities/chain';
import type { AccountEntity } from '../../../src/accounts/entity';
import { BitcoinChainClient } from '../../../src/chains/bitcoin/client';
import { getFamily } from '../../../src/chains/families';
import type { ChainDefinition } from '../../../src/chains/types';
import { bitcoinCodec, localBitcoin } from '../../bitcoin';
import { startTestBtcd } from '../../stack/btcd';
import { createChainFixture, direct, type Route } from '../following/chain-fixture';

/** An address that nobody of the gateway has. */
export const newOutside = (): string => bitcoinCodec.address(secp256k1.keygen().publicKey).address;

/** A local Bitcoin chain with two accounts, and everything between them but Temporal and the nodes that sign. */
export async function createBitcoinFixture(changes: Partial<ChainDefinition> = {}, route: Route = direct) {
  const btcd = await startTestBtcd();
  const client = new BitcoinChainClient(localBitcoin(changes), [await route(btcd.url)]);
  const fixture = await createChainFixture({ client, getFamily, symbols: ['BTC'] });
  const { node } = btcd;
  const { database, follow, onChain, ledger } = fixture;
  const outside = newOutside();

  const mine = async (blocks = 1) => {
    if (blocks > 0) await node.mine(blocks);
  };
  /** Deposits of these amounts, each in a transaction of its own, deep enough to be credited and spent. */
  const fund = async (account: AccountEntity, amounts: bigint[]) => {
    for (const amount of amounts) await node.send(account.address, amount);
    await mine(fixture.chain.confirmations);
    await follow();
  };
  const outputs = (account: AccountEntity) =>
    database.query<{ resource: string; amount: string; spent_by: string | null }[]>(
      'select resource, amount, spent_by from chain_outputs where owner = $1 order by amount desc, resource',
      [account.addressKey],
    );
  /** What the chain says that the account has, in satoshis. */
  const unspent = async (account: AccountEntity) =>
    (await outputs(account)).reduce((total, { amount, spent_by: by }) => (by === null ? total + BigInt(amount) : total), 0n);
  /** Of Alice. */
  const pay = (amount: string, toAddress = outside) => fixture.transfer({ tokenSymbol: 'BTC', amount, toAddress });
  /** The first attempt; `details`: in place of those that were prepared. */
  const begin = async (txId: string, details: Record<string, string> = {}) => {
    const facts = await onChain.prepareAttempt({ txId, attempt: 1, kind: 'first' });
    const prepared = { ...facts, details: { ...(facts.details as object), ...details } };
    return ledger.beginAttempt({ txId, attempt: 1, kind: 'first', prepared });
  };
  const send = async (txId: string, attempt: number) => {
    const sent = await onChain.broadcast({ txId, attempt });
    if (attempt === 1) await ledger.markSubmitted({ txId, attempt });
    return sent;
  };
  /** Mines until the transfer can be settled, and settles it. */
  const settle = async (txId: string, blocks = fixture.chain.confirmations) => {
    await mine(blocks);
    await follow();
    return ledger.settleTransfer({ txId });
  };
  const held = (txId: string) =>
    database.query<{ resource: string; attempts: number[]; held: boolean }[]>(
      `select resource, released_at is null as held,
              array(select attempt from attempt_reservations a where a.reservation_id = r.reservation_id order by attempt) as attempts
         from reservations r where tx_id = $1 order by reservation_id`,
      [txId],
    );
  /** Satoshis per virtual byte at which the next attempt is made. */
  const rate = async () => BigInt((await client.feeLevels()).rate as string);
  /** What the gateway does on the chain where it finds it at these endpoints. */
  const clientAt = (...urls: string[]) => new BitcoinChainClient(client.chain, urls);
  const at = (...urls: string[]) =>
    createChainActivities({ ...fixture.options, clients: new Map([[client.chain.name, clientAt(...urls)]]) });
  const close = async () => {
    await fixture.close();
    await btcd.stop();
  };
  return {
    ...fixture,
    btcd,
    node,
    client,
    clientAt,
    at,
    outside,
    mine,
    fund,
    outputs,
    unspent,
    pay,
    begin,
    send,
    settle,
    held,
    rate,
    close,
  };
}

/** Rows of outputs that the chain does not have, of Alice. */
export async function addOutputs({ database, alice }: BitcoinFixture, count: number, amount: bigint): Promise<void> {
  await database.query(
    `insert into chain_outputs (chain, resource, owner, amount, block_number, spendable_from)
     select 'bitcoin', 'cd' || lpad(n::text, 62, '0') || ':0', $1, $2, 1, 1 from generate_series(1, $3::int) n`,
    [alice.addressKey, amount, count],
  );
}

export type BitcoinFixture = Awaited<ReturnType<typeof createBitcoinFixture>>;
