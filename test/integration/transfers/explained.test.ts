import { formatUnits, parseUnits } from 'viem';
import { formatTransaction } from '../../../src/cli/explain/render';
import { toTried } from '../../../src/cli/transfer-dry-run';
import type { ChainActivities } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { explain } from '../../explained';
import { type FamilyScene, describeFamilies } from '../families/scene';
import { ServedChain, until } from './served';

jest.setTimeout(120_000);

/** What `gateway explain` says of a transfer while its workflow runs and its chain answers, the same for every family. */

describeFamilies('explained', ({ symbol, decimals, amount: worth, newAddress }, create, { rules }) => {
  const served = new ServedChain<FamilyScene>(async () => {
    const created = await create({});
    await created.deposit(created.alice, parseUnits(worth('2'), decimals));
    await created.mine(created.chain.confirmations);
    await created.follow();
    return created;
  });
  let fixture: FamilyScene;
  beforeEach(() => {
    fixture = served.fixture;
  });

  const submit = () =>
    served.submit({
      tokenSymbol: symbol,
      amount: formatUnits(parseUnits(worth('1.2'), decimals), decimals),
      toAddress: newAddress(),
    });
  /** Nothing is sent meanwhile: what is parked is absent from the chain. */
  const refusing = (isRefused: () => boolean) => ({
    chain: {
      broadcast: ((input) =>
        isRefused()
          ? Promise.resolve({ outcome: 'rejected', reason: 'not by this node' })
          : fixture.onChain.broadcast(input)) satisfies ChainActivities['broadcast'],
      observe: ((input) =>
        isRefused()
          ? Promise.resolve({ state: 'absent', hash: null, blockNumber: null, confirmations: 0 })
          : fixture.onChain.observe(input)) satisfies ChainActivities['observe'],
    },
  });
  const report = (txId: string) =>
    explain(
      {
        ...{ database: fixture.database, temporal: served.client, client: fixture.client, chains: [fixture.chain] },
        uiUrl: 'http://ui.test/',
      },
      txId,
    );
  const tried = async (txId: string, act: 'retry' | 'abandon') => toTried(await report(txId), act);
  const names = async (txId: string) => (await report(txId)).actions.map(({ name }) => name);

  test('parked: what the run would take is offered, and is taken; the attempt is shown as the chain shows it', async () => {
    let isRefused = true;
    await served.serve(refusing(() => isRefused));
    const txId = await submit();
    await until('parked', async () => (await report(txId)).workflow.live?.step === 'park');
    const parked = await report(txId);
    expect(parked.workflow).toMatchObject({
      ...{ state: 'open', workflow_id: transferWorkflowId(txId), possible: { retry: true, abandon: true } },
      link: `http://ui.test/namespaces/default/workflows/${transferWorkflowId(txId)}`,
    });
    expect(parked.state.why[0]).toContain('not by this node');
    expect(parked.chain.state).toBe('answered');
    expect(parked.attempts).toMatchObject([{ attempt: 1, on_record: 'signed', chain_now: 'absent' }]);
    expect(parked.actions.map(({ name }) => name)).toEqual(['retry', 'abandon']);
    const abandon = parked.actions.find(({ name }) => name === 'abandon');
    expect(abandon?.effect).toMatch(rules.abandoned === 'cancel' ? /^A cancellation is signed/ : /^Nothing more is signed/);
    expect(formatTransaction(parked)).toContain(`gateway transfers retry ${txId}`);

    // what the commands say before they do it
    expect(await tried(txId, 'abandon')).toEqual({ tx_id: txId, status: 'NEEDS_ATTENTION', would: abandon?.effect });
    expect(await tried(txId, 'retry')).toMatchObject({ would: expect.stringContaining('continues where it has stopped') });
    expect(await fixture.attempts(txId)).toHaveLength(1);

    isRefused = false;
    expect(await served.operations.retry(txId)).toBe('retrying');
    await served.ends(txId, 'CONFIRMED');
    // the row says so a moment before the workflow has ended
    await until('closed', async () => (await report(txId)).workflow.state === 'closed');
    const ended = await report(txId);
    expect(ended).toMatchObject({ state: { status: 'CONFIRMED' }, locked: [], actions: [] });
    for (const act of ['retry', 'abandon'] as const)
      await expect(tried(txId, act)).rejects.toThrow(
        `${act} would not be taken now: the transaction is CONFIRMED. The workflow is not`,
      );
    expect(ended.attempts[0]?.chain_now).toMatch(/^executed in block \d+, \d+ deep, as \S+, fee \S+ \S+$/);
    expect(ended.attempts[0]?.on_record).toMatch(/^executed in block/);
  });

  test('a run that was ended by hand is told, and started again by what is offered', async () => {
    await served.serve(refusing(() => true));
    const txId = await submit();
    await until('parked', async () => (await report(txId)).workflow.live?.step === 'park');
    await served.client.workflow.getHandle(transferWorkflowId(txId)).terminate('by hand');
    await fixture.database.query('delete from workflow_outbox');
    const lost = await report(txId);
    expect(lost.workflow).toMatchObject({ state: 'closed', note: 'The workflow is not running: TERMINATED', live: null });
    expect(lost.state.why.join(' ')).toContain('its workflow is not running');
    expect(lost.actions.map(({ name }) => name)).toEqual(['retry']);
    await expect(served.operations.abandon(txId)).rejects.toThrow('start it again with retry first');
    expect(await served.operations.retry(txId)).toBe('started again');
    await until('parked again', async () => (await names(txId)).includes('abandon'));
  });
});
