import { Argument, type Command } from 'commander';
import type { AccountEntity } from '../accounts/entity';
import { readChainClient } from '../chains/clients';
import { loadRegistry } from '../chains/registry';
import { getChains } from '../chains/registry/data';
import { readConfig } from '../platform/config';
import { readNodeKeys } from '../mpc/identity';
import { acceptCount } from './accept-count';
import { AssetOperations, balanceRow } from './asset-operations';
import { bindKeyAgain } from './bind-key';
import { ClientOperations } from './client-operations';
import { type WalletLimit, WalletOperations, type LimitChange } from './wallet-operations';
import type { WalletEntity } from '../wallets/entity';
import type { LedgerAccountEntity } from '../ledger/entity';
import { cannotBeUndone, confirm, type Confirmation, hasDryRun, hasReason, type Reasoned, type Tried } from './confirmation';
import { toLimit } from './options';
import type { Run } from './run';
import type { CountUsed } from '../transfers/rebuild/missing-ordinals';
import { print, printRow, printRows } from './output';
import { CommandFailed, type Session } from './session';

const walletRow = ({ walletId, clientId, walletName, status, keyStatus, createdAt }: WalletEntity) => ({
  wallet_id: walletId,
  client_id: clientId,
  wallet_name: walletName,
  status,
  key_status: keyStatus,
  created_at: createdAt,
});
const limitRow = ({ symbol, maxSingle, maxDaily }: WalletLimit) => ({ symbol, max_single: maxSingle, max_daily: maxDaily });
const accountRow = ({ accountId, walletId, chain, address, status }: AccountEntity) => ({
  account_id: accountId,
  wallet_id: walletId,
  chain,
  address,
  status,
});
const assetRow = (asset: LedgerAccountEntity) => ({
  asset_id: asset.ledgerAccountId,
  account_id: asset.accountId,
  ...balanceRow(asset),
});
const operations = ({ database }: Session) => new WalletOperations(database);

/** wallet, account, asset */
export function addWalletCommands(program: Command, run: Run): void {
  const wallet = program.command('wallet').description('wallets and their limits');
  wallet
    .command('list [client]')
    .description('list wallets, of one client or of all')
    .action(
      run(async (session, reference?: string) => {
        const client = reference === undefined ? undefined : await new ClientOperations(session.database).findClient(reference);
        printRows((await operations(session).list(client?.clientId)).map(walletRow), session.json);
      }),
    );
  hasReason(wallet.command('suspend <wallet-id>'))
    .description('refuse new transfers and accounts of a wallet')
    .action(
      run(async (session, id: string, { reason }: Reasoned) =>
        printRow(walletRow(await operations(session).suspend(id, reason)), session.json),
      ),
    );
  hasReason(wallet.command('resume <wallet-id>'))
    .description('activate a suspended wallet again')
    .action(
      run(async (session, id: string, { reason }: Reasoned) =>
        printRow(walletRow(await operations(session).resume(id, reason)), session.json),
      ),
    );
  wallet
    .command('bind <wallet-id>')
    .description(
      "have the signing nodes bind the wallet's key to it again, after the database of one was restored (with MPC_NODE_PEER_CERTS)",
    )
    .action(
      run(async ({ database, temporal, json }, id: string) => {
        const { MPC_NODE_PEER_CERTS: certificates } = readConfig(['MPC_NODE_PEER_CERTS']);
        const bindings = await bindKeyAgain({ database, temporal, nodeKeys: readNodeKeys(certificates) }, id);
        printRows(
          bindings.map(({ node, state, detail }) => ({ node, state, detail })),
          json,
        );
        if (bindings.some(({ state }) => state !== 'bound')) throw new CommandFailed('not every node has bound the key');
      }),
    );
  addLimitCommands(wallet.command('limit').description('largest amounts a wallet may transfer'), run);

  addAssetCommands(program.command('asset').description('assets: the tokens of an account'), run);

  const account = program.command('account').description('accounts');
  account
    .command('list [client]')
    .description('list accounts, of one client or of all but the house, newest first')
    .option('--wallet <wallet-id>', 'only accounts of this wallet')
    .option('--limit <number>', 'maximum number of accounts', toLimit, 50)
    .action(
      run(async (session, reference: string | undefined, { wallet: walletId, limit }: { wallet?: string; limit: number }) => {
        const client = reference === undefined ? undefined : await new ClientOperations(session.database).findClient(reference);
        const filter = { limit, ...(client && { clientId: client.clientId }), ...(walletId !== undefined && { walletId }) };
        printRows((await operations(session).listAccounts(filter)).map(accountRow), session.json);
      }),
    );
  hasDryRun(cannotBeUndone(account.command('accept-count <account-id> <chain> <count>')), 'whether the count would be taken')
    .description(
      'use an account again of which the chain has executed more than was begun: take so many transactions, which have to be final there, for executed (with CHAIN_<NAME>_RPC_URLS)',
    )
    .action(
      run(async ({ database, json }, accountId: string, chain: string, count: string, options: Confirmation & Tried) => {
        const { dryRun = false, reason } = options;
        if (!dryRun) await confirm(`take ${count} transactions of account ${accountId} on ${chain} for executed`, options);
        const { GATEWAY_ENV, CHAINS } = readConfig(['GATEWAY_ENV', 'CHAINS']);
        const registry = loadRegistry(GATEWAY_ENV, CHAINS.split(','));
        const countUsed: CountUsed = (on, address) => readChainClient(on).usedOrdinals(address);
        const accepted = await acceptCount(database, registry, countUsed, { accountId, chain, count, reason, dryRun });
        printRow({ account_id: accountId, chain: accepted.chain, count: accepted.count }, json);
      }),
    );
  for (const [verb, status] of [
    ['disable', 'INACTIVE'],
    ['enable', 'ACTIVE'],
  ] as const) {
    hasReason(account.command(`${verb} <account-id>`))
      .description(`${verb} an account`)
      .action(
        run(async (session, id: string, { reason }: Reasoned) =>
          printRow(accountRow(await operations(session).setAccountStatus(id, status, reason)), session.json),
        ),
      );
  }
}

function addAssetCommands(asset: Command, run: Run): void {
  asset
    .command('list [account-id]')
    .description('list assets with their balances, of one account or of all')
    .option('--frozen', 'only those that a shortfall has frozen')
    .option('--limit <number>', 'maximum number of assets', toLimit, 50)
    .action(
      run(async ({ database, json }, accountId: string | undefined, { frozen, limit }: { frozen?: true; limit: number }) => {
        const filter = { limit, ...(accountId !== undefined && { accountId }), ...(frozen && { isFrozen: frozen }) };
        printRows((await new AssetOperations(database).list(filter)).map(assetRow), json);
      }),
    );
  hasDryRun(cannotBeUndone(asset.command('unfreeze <asset-id>')), 'what is frozen and why')
    .description('allow transfers again from an asset that a shortfall has frozen, after its cause was examined')
    .action(
      run(async ({ database, json }, id: string, { dryRun, ...confirmation }: Confirmation & Tried) => {
        const assets = new AssetOperations(database);
        if (dryRun) return printRow(assetRow(await assets.findFrozen(id)), json);
        await confirm(`allow transfers from asset ${id} again`, confirmation);
        const { ledgerAccountId, accountId, chain, symbol, frozenReason } = await assets.unfreeze(id, confirmation.reason);
        printRow({ asset_id: ledgerAccountId, account_id: accountId, chain, symbol, was_frozen_for: frozenReason }, json);
      }),
    );
}

/** Of every chain of every environment: a limit of a misspelt symbol would limit nothing. */
function knownSymbols(): string[] {
  const chains = (['production', 'sandbox', 'local'] as const).flatMap((environment) => getChains(environment));
  return [...new Set(chains.flatMap(({ native, tokens }) => [native, ...tokens].map(({ symbol }) => symbol)))].sort();
}

function addLimitCommands(limit: Command, run: Run): void {
  hasReason(limit.command('set'))
    .argument('<wallet-id>')
    .addArgument(new Argument('<symbol>').choices(knownSymbols()))
    .description('set limits, in display units')
    .option('--max-single <amount>', 'largest single amount, or none')
    .option('--max-daily <amount>', 'largest sum in 24 hours, or none')
    .action(
      run(async (session, id: string, symbol: string, options: LimitChange) =>
        printRow(limitRow(await operations(session).setLimit(id, symbol, options)), session.json),
      ),
    );
  limit
    .command('show <wallet-id>')
    .description('show the limits of a wallet')
    .action(run(async (session, id: string) => printRows((await operations(session).limits(id)).map(limitRow), session.json)));
  hasReason(limit.command('clear <wallet-id> <symbol>'))
    .description('remove both limits of a symbol')
    .action(
      run(async (session, id: string, symbol: string, { reason }: Reasoned) => {
        await operations(session).clearLimit(id, symbol, reason);
        if (session.json) printRow(limitRow({ symbol, maxSingle: null, maxDaily: null }), true);
        else print(`${symbol} has no limit now`);
      }),
    );
}
