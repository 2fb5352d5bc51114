import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { keepStateCopy, restoreState } from '../../../dev/anvil';
import { sleep, until } from '../../../dev/processes';

describe('the state of a local chain', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'anvil-state-'));
  const state = path.join(folder, 'ethereum.json');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is restored from its copy when a kill left a truncated file', async () => {
    writeFileSync(state, '{"block":1}');
    const stop = keepStateCopy(state, 20);
    await until(() => existsSync(`${state}.copy`), 2_000, 10);
    writeFileSync(state, '{"block":2,"acc');
    await sleep(100);
    stop();
    restoreState(state);
    expect(readFileSync(state, 'utf8')).toBe('{"block":1}');
  });

  it('is not changed when it is complete', () => {
    writeFileSync(state, '{"block":3}');
    restoreState(state);
    expect(readFileSync(state, 'utf8')).toBe('{"block":3}');
  });

  it('starts empty when there is no complete copy', () => {
    writeFileSync(state, '{');
    writeFileSync(`${state}.copy`, '{');
    restoreState(state);
    expect(existsSync(state)).toBe(false);
  });
});
