import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { workflowTypes } from '../../src/messages/workflow-ids';
import { answers } from './answers';
import { endings } from './endings';
import { exempt } from './exempt';
import { historyNames, readHistory, readRun } from './history';
import { findUnreached } from './reached';

const codePath = path.resolve(__dirname, '../../dist/workflow-bundle.js');
const runs = new Map(historyNames.map((name) => [name, readRun(name)]));

/** Why a history does not replay, by its name. */
const replayErrors = new Map<string, Error | undefined>();
let unreached: string[];

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const histories = historyNames.map((name) => ({ workflowId: name, history: readHistory(name) }));
  // in this thread, where it is seen which lines are reached
  const options = { workflowBundle: { codePath }, debugMode: true };
  unreached = await findUnreached(codePath, async () => {
    for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) replayErrors.set(workflowId, error);
  });
}, 60_000);

test('every way in which a run ends has its committed history', () => {
  expect(historyNames).toEqual(Object.keys(endings).sort());
});

test('every workflow has one that ended, or that goes on in another run', () => {
  const finished = [...runs.values()].filter(({ end }) => end !== 'open');
  expect(new Set(finished.map(({ workflow }) => workflow))).toEqual(new Set(Object.values(workflowTypes)));
});

test.each(Object.entries(endings))('%s shows what its name says, up to its end', (name, ending) => {
  const { steps = [], end } = runs.get(name) ?? {};
  const shown = [...steps, end];
  expect(shown.slice(-2)).toEqual(ending.slice(-2));
  let at = 0;
  for (const step of shown) if (step === ending[at]) at += 1;
  expect(ending.slice(at)).toEqual([]);
});

test.each(
  Object.entries(answers).flatMap(([activity, shownBy]) =>
    Object.entries(shownBy as Record<string, string>).map(([answer, name]) => [`${activity}: ${answer}`, name] as const),
  ),
)('%s is shown by %s', (step, name) => {
  expect(runs.get(name)?.steps).toContain(step);
});

test.each(historyNames)('%s replays on the current workflows', (name) => {
  expect(replayErrors.has(name)).toBe(true);
  expect(replayErrors.get(name)).toBeUndefined();
});

test('every line of the workflows is reached by a history, or listed with the reason why none reaches it', () => {
  expect(unreached.sort()).toEqual(Object.values(exempt).flat().sort());
});

test('a deliberately changed workflow does not replay', async () => {
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: path.join(__dirname, 'changed-workflow.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  await expect(Worker.runReplayHistory({ workflowBundle }, readHistory('transfer-confirmed'))).rejects.toThrow(
    /[Nn]ondeterminism/,
  );
}, 60_000);
