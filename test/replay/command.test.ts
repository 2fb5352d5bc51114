import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { projectRoot } from '../../dev/paths';
import type { History } from '../../dev/replay/history';
import { replay } from '../../dev/replay/replay';
import { timeline } from '../../dev/replay/report';
import { readHistory } from './history';

/** `npm run replay` and `npm run replay:add`: the compiled commands, as the scripts start them. */

const folder = mkdtempSync(path.join(tmpdir(), 'replay-'));
afterAll(() => rmSync(folder, { recursive: true }));

function run(name: 'index' | 'add', args: string[], env: NodeJS.ProcessEnv = {}) {
  const command = path.join(projectRoot, `dist/dev/replay/${name}.js`);
  return spawnSync(process.execPath, [command, ...args], { encoding: 'utf8', env: { ...process.env, ...env } });
}

const committed = path.join(projectRoot, 'test/replay/histories/transfer-confirmed.json');

/** The same run, had its code asked for another activity when it was to broadcast. */
function withAnotherActivity(): History {
  const history = readHistory('transfer-confirmed');
  for (const event of history.events) {
    const { activityType } = event.activityTaskScheduledEventAttributes ?? {};
    if (activityType?.name === 'broadcast') activityType.name = 'announce';
  }
  return history;
}

test('the timeline says in words what the run has gone through, by seconds since its start', () => {
  expect(timeline(readHistory('transfer-confirmed'))).toEqual([
    'transfer, started at 2026-11-23T19:28:06.549732938Z, 42 events',
    '          time   event  step',
    '       0.197 s       8  adoptHold: held',
    '       0.197 s       9  screenTransfer: allowed',
    '       0.259 s      12  prepareAttempt first: done',
    '       0.423 s      18  beginSigning first: begun',
    '       1.548 s      24  signTransaction: done',
    '       2.154 s      30  broadcast: accepted',
    '       3.860 s      35  signal chainObserved',
    '       4.233 s      40  settleTransfer: CONFIRMED',
    '       4.233 s      42  end: CONFIRMED',
  ]);
});

test('a divergence names the workflow task, what the history has as its result, and what the code asks for', async () => {
  const { message, ...sides } = (await replay(withAnotherActivity())) ?? {};
  expect(sides).toEqual({ taskId: 26, history: ['activity announce'], code: ['activity broadcast'] });
  expect(message).toMatch(/^\[TMPRL1100\] Nondeterminism error: Activity type of scheduled event 'announce' does not match/);
}, 180_000);

test('a changed workflow diverges where its first new command is', async () => {
  const workflowsPath = path.join(__dirname, 'changed-workflow.ts');
  const { taskId, history, code } = (await replay(readHistory('transfer-confirmed'), { workflowsPath })) ?? {};
  expect({ taskId, code }).toEqual({ taskId: 6, code: ['timer of 1s'] });
  expect(history?.slice(-3)).toEqual([
    'local activity adoptHold: held',
    'local activity screenTransfer: allowed',
    'activity prepareAttempt first',
  ]);
}, 180_000);

test('the command ends with 0 when a file replays, and with 1 and both sides when it does not', () => {
  const good = run('index', [committed]);
  expect(good.stdout).toMatch(/ end: CONFIRMED\n\nREPLAYS: /);
  expect(good.status).toBe(0);
  const file = path.join(folder, 'other.json');
  writeFileSync(file, JSON.stringify(withAnotherActivity()));
  const bad = run('index', [file]);
  expect(bad.stdout).toMatch(
    /\nDIVERGES in the workflow task of event 26: .*\n +the history has +activity announce\n +the code asks for +activity broadcast\n/,
  );
  expect(bad.stdout).toContain('`patched` and the end of a run are in the list of the history alone');
  expect(bad.status).toBe(1);
}, 180_000);

test('debugging runs the workflow in the thread of the program, with the same verdict', () => {
  // as --debug starts itself below a debugger
  const { status, stdout } = run('index', [committed, '--debug'], { TEMPORAL_DEBUG: '1' });
  expect(stdout).toMatch(/REPLAYS: /);
  expect(status).toBe(0);
}, 180_000);

test('--debug says how to attach a debugger, opens a port for it on this machine alone, and waits', async () => {
  const command = path.join(projectRoot, 'dist/dev/replay/index.js');
  // a group of its own: the program that waits is a child of the command
  const child = spawn(process.execPath, [command, committed, '--debug'], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (out += text.toString()));
  child.stderr.on('data', (text: Buffer) => (err += text.toString()));
  try {
    for (const end = Date.now() + 60_000; !/Debugger listening on \S+/.test(err) && Date.now() < end;) await delay(50);
    const [, port] = /^Debugger listening on ws:\/\/127\.0\.0\.1:(\d+)\//m.exec(err) ?? [];
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { url: string; type: string }[];
    expect(targets).toMatchObject([{ type: 'node', url: `file://${command}` }]);
    expect(out).toBe('');
    // the places that the recipe names
    const named = [...err.matchAll(/(?:workflows\/ \()?([\w-]+\/index\.ts)/g)].map(([, file = '']) => file);
    expect(named).toEqual(['transfer/index.ts']);
    for (const file of named) expect(existsSync(path.join(projectRoot, 'workflows', file))).toBe(true);
    expect(readFileSync(path.join(projectRoot, 'CONTRIBUTING.md'), 'utf8')).toContain(`127.0.0.1:${port}`);
  } finally {
    process.kill(-(child.pid as number), 'SIGKILL');
    await once(child, 'close');
  }
}, 90_000);

test.each([
  ['no source', [], /^usage: npm run replay/],
  ['an unknown option', ['--nothing'], /^usage: npm run replay/],
  ['a file that is not there', ['nowhere.json'], /^there is no file nowhere.json/],
  ['a file without a history', [path.join(projectRoot, 'package.json')], /package.json is not the history of a workflow/],
])('with %s it ends with 2 and a sentence', (_what, args, sentence) => {
  const { status, stderr } = run('index', args);
  expect(stderr).toMatch(sentence);
  expect(status).toBe(2);
});

test.each([
  ['index', ['transfer-of-nobody']],
  ['add', ['transfer-of-nobody', 'one-more', '--folder', folder]],
] as const)(
  '%s: a Temporal that is unreachable is said, with the exit code of a service that is down',
  (name, args) => {
    const { status, stderr } = run(name, [...args], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect({ status, stderr }).toEqual({ status: 69, stderr: 'Temporal is unreachable\n' });
  },
  120_000,
);

test('replay:add takes a file, and refuses a name that is none', () => {
  expect(run('add', [committed, 'one-more', '--folder', folder]).status).toBe(0);
  expect(JSON.parse(readFileSync(path.join(folder, 'one-more.json'), 'utf8'))).toEqual(readHistory('transfer-confirmed'));
  const refused = run('add', [committed, '../one', '--folder', folder]);
  expect({ status: refused.status, usage: refused.stderr.startsWith('usage: ') }).toEqual({ status: 2, usage: true });
});
