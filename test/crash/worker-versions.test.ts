import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { parseAmount } from '../../src/platform/money';
import { gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { type Account, call, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { waitFor } from '../stack/client';
import { chainOf } from './scene';
import { crashAccount, expectBalanced, onChain } from './transfer';
import { Twin } from './twin';
import {
  deploymentName,
  Histories,
  makeNewRelease,
  removeNewRelease,
  temporalCommand,
  temporalOutput,
  versionOf,
} from './worker-builds';

/**
 * An upgrade of the worker with versions, and the way back, as docs/upgrades.md says: processes of two releases, of which the new one's
 * transfers have a step more, with the commands of an operator, while transfers wait for their confirmations.
 */

const [oldBuild, newBuild] = ['1.4.0', '1.5.0'] as const;
const amount = '0.01';
const waitSeconds = '120';

const builtAs = (build: string) => ({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: build });
const oldWorker = new Twin('worker', { env: builtAs(oldBuild) });
let newWorker: Twin;
let account: Account;
let histories: Histories;

beforeAll(async () => {
  newWorker = new Twin('worker', { env: builtAs(newBuild), dist: await makeNewRelease() });
  histories = await Histories.connect();
  account = await crashAccount();
});
afterAll(async () => {
  await blocks(true);
  // for the tests after this one, whatever has failed here
  await temporalCommand('set-current', 'unversioned', '--wait', waitSeconds);
  await Promise.all([oldWorker.kill(), newWorker.kill()]);
  await histories.close();
  removeNewRelease();
});

const blocks = (made: boolean) => chainOf('ethereum').setIntervalMining({ interval: made ? 1 : 0 });
const recipients = new Map<string, string>();

/** In the newest block, and waiting for the next one: one of the two confirmations is there, and no blocks are made. */
async function inBlock(...txIds: string[]): Promise<void> {
  await chainOf('ethereum').mine({ blocks: 1 });
  const included = async () =>
    gatewayQuery('select from transfer_attempts where tx_id = any($1::uuid[]) and block_number is not null', [txIds]);
  await waitFor(async () => (await included()).length === txIds.length, { timeoutMs: 60_000 });
}

async function sent(): Promise<string> {
  const to = randomAddress();
  const body = { from_address: account.address, to_address: to, chain: 'ethereum', token_symbol: 'ETH', amount };
  const txId = (await call('POST', '/transfer', { body })).body.tx_id as string;
  recipients.set(txId, to);
  await transactionWhen(txId, ['SUBMITTED', 'CONFIRMED'], 60_000);
  return txId;
}

const setCurrent = (build: string) => temporalOutput('set-current', build, '--wait', waitSeconds);

async function confirmed(...txIds: string[]): Promise<void> {
  await blocks(true);
  for (const txId of txIds) {
    await transactionWhen(txId, ['CONFIRMED'], 120_000);
    expect(await onChain('ethereum', recipients.get(txId) ?? '')).toBe(parseAmount(amount, 18));
    // a run that is open is among those that are pinned
    await waitFor(() => histories.hasEnded(txId));
  }
}

const stepsOf = (txId: string) => histories.stepsOf(txId);
const onOld = { builds: [oldBuild], isPatched: false, failed: 0 };
const onNew = { builds: [newBuild], isPatched: true, failed: 0 };

/** No pinned run needs the workers of the build any more, and Temporal says so. */
async function drained(build: string): Promise<void> {
  await waitFor(async () => (await versionOf(build))?.state === 'drained', { timeoutMs: 120_000, intervalMs: 1_000 });
  expect(await versionOf(build)).toMatchObject({ percent: 0, pinned: 0 });
}

const pinsOf = (txId: string) =>
  gatewayQuery<{ action: string; build: string; reason: string | null }>(
    `select action, detail ->> 'build' as build, detail ->> 'stated_reason' as reason
       from audit_events where subject_type = 'workflow' and subject_id = $1 order by at`,
    [transferWorkflowId(txId)],
  );

test('a new build takes over what waits, but what is pinned; the old one is drained and stopped; the way back pins what only the new one knows', async () => {
  expect(await temporalCommand('versions')).toMatchObject({ code: 1, err: expect.stringContaining('no worker of deployment') });
  await oldWorker.start();
  await setCurrent(oldBuild);
  expect(await versionOf(oldBuild)).toMatchObject({ state: 'current', percent: 100 });

  await blocks(false);
  const moving = await sent();
  const staying = await sent();
  await inBlock(moving, staying);
  for (const txId of [moving, staying]) expect(await stepsOf(txId)).toEqual(onOld);

  expect(await temporalCommand('set-current', newBuild)).toMatchObject({ code: 1, err: expect.stringContaining(newBuild) });
  await newWorker.start();
  await temporalOutput('pin', oldBuild, staying, '--reason', 'upgrade');
  expect(await temporalCommand('pin', oldBuild, 'transfer-of-nobody')).toMatchObject({
    code: 1,
    err: expect.stringContaining('there is no open run transfer-of-nobody'),
  });
  await waitFor(async () => (await temporalCommand('set-ramp', newBuild, '10')).code === 0, { timeoutMs: 120_000 });
  expect(await versionOf(newBuild)).toMatchObject({ state: 'ramping', percent: 10 });
  await temporalOutput('set-ramp', newBuild, '0');
  await setCurrent(newBuild);
  expect(await versionOf(newBuild)).toMatchObject({ state: 'current', percent: 100 });
  // Temporal's list of runs lags behind
  await waitFor(async () => (await versionOf(oldBuild))?.pinned === 1);
  expect(await versionOf(oldBuild)).toMatchObject({ state: 'draining', percent: 0, pinned: 1 });

  const first = await sent();
  expect(await stepsOf(first)).toEqual(onNew);
  await confirmed(moving, staying, first);
  expect(await stepsOf(moving)).toEqual({ builds: [oldBuild, newBuild], isPatched: false, failed: 0 });
  expect(await stepsOf(staying)).toEqual(onOld);
  expect(await stepsOf(first)).toEqual(onNew);
  await drained(oldBuild);
  expect(await oldWorker.stop()).toBe(0);
  await confirmed(await sent());

  // the way back: transfers of the new build have a step that the old one does not know
  await blocks(false);
  const kept = await sent();
  const unkept = await sent();
  await inBlock(kept, unkept);
  await oldWorker.start();
  const { runs } = await temporalOutput<{ runs: string[] }>('pin', newBuild, '--all');
  expect(runs.sort()).toEqual([kept, unkept].map(transferWorkflowId).sort());
  await temporalOutput('unpin', newBuild, unkept);
  await setCurrent(oldBuild);
  const last = await sent();
  await confirmed(kept, last);
  expect(await stepsOf(kept)).toEqual(onNew);
  expect(await stepsOf(last)).toEqual(onOld);
  await waitFor(async () => (await stepsOf(unkept)).failed > 0, { timeoutMs: 60_000 });
  // Temporal would send it to the old build whatever it is pinned to
  expect(await temporalCommand('pin', newBuild, unkept)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`set-current ${newBuild}`),
  });
  await setCurrent(newBuild);
  await confirmed(unkept);
  expect((await stepsOf(unkept)).builds).toEqual([newBuild]);
  expect(await pinsOf(staying)).toEqual([{ action: 'workflow.pinned', build: oldBuild, reason: 'upgrade' }]);
  expect((await pinsOf(unkept)).map(({ action }) => action)).toEqual(['workflow.pinned', 'workflow.unpinned']);

  await setCurrent('unversioned');
  await drained(newBuild);
  expect(await newWorker.stop()).toBe(0);
  const unversioned = await sent();
  await confirmed(unversioned);
  expect(await stepsOf(unversioned)).toEqual({ builds: [null], isPatched: false, failed: 0 });
  await expectBalanced(account, 'ethereum');
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);
}, 900_000);
