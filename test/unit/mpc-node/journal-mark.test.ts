import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { JournalMark } from '../../../src/mpc/journal-mark';

describe('the journal mark', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mark-'));
  const file = path.join(folder, 'mark.json');
  const hash = (digit: string) => digit.repeat(64);
  const opened: JournalMark[] = [];
  const open = (at = file): JournalMark => {
    const mark = new JournalMark(at, 1);
    opened.push(mark);
    return mark;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((mark) => mark.close()));
    rmSync(file, { force: true });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is read as it was written, by a process that starts later', async () => {
    const mark = open();
    expect(await mark.read()).toBeNull();
    await mark.reset({ bans: 0, entry: null });
    await mark.raiseEntry(7, hash('a'));
    await mark.raiseBans(2);
    expect(await open().read()).toEqual({ bans: 2, entry: { number: 7, hash: hash('a') } });
    expect(readdirSync(folder)).toEqual(['mark.json']);
  });

  test('a ban before the node is ready keeps the entry that the file names', async () => {
    await open().reset({ bans: 1, entry: { number: 7, hash: hash('a') } });
    const mark = open();
    await mark.read();
    await mark.raiseBans(2);
    expect(await open().read()).toEqual({ bans: 2, entry: { number: 7, hash: hash('a') } });
  });

  test('only rises, whatever the order of calls, and is durable when a call has resolved', async () => {
    const mark = open();
    await mark.reset({ bans: 0, entry: null });
    const calls = [3, 9, 5, 8].map((number) => mark.raiseEntry(number, hash(String(number))));
    await Promise.race(calls);
    await calls[1];
    expect(await open().read()).toMatchObject({ entry: { number: 9, hash: hash('9') } });
    await Promise.all(calls);
    await mark.raiseBans(1);
    expect(await open().read()).toEqual({ bans: 1, entry: { number: 9, hash: hash('9') } });
  });

  test('a call that cannot be written fails, and the next one is written again', async () => {
    const mark = open(path.join(folder, 'missing', 'mark.json'));
    await expect(mark.raiseBans(1)).rejects.toThrow(/ENOENT/);
    await expect(mark.raiseBans(2)).rejects.toThrow(/ENOENT/);
  });

  test('a write that the disk does not end has failed after two seconds; the next one waits until it has ended', async () => {
    const mark = open();
    await mark.reset({ bans: 0, entry: null });
    // opening a pipe for writing does not return before somebody reads it
    const pipe = `${file}.new`;
    execFileSync('/usr/bin/mkfifo', [pipe]);
    await expect(mark.raiseEntry(7, hash('a'))).rejects.toThrow(/was not written within/);
    await expect(mark.raiseEntry(8, hash('b'))).rejects.toThrow(/has not ended/);
    await readFile(pipe);
    rmSync(pipe, { force: true });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await mark.raiseEntry(9, hash('c'));
    expect(await open().read()).toMatchObject({ entry: { number: 9 } });
  });

  test.each([
    ['of another node', JSON.stringify({ version: 1, node: 2, bans: 0, entry: null }), /belongs to node 2/],
    ['that is not JSON', '{', /is not JSON/],
    ['with an unknown field', JSON.stringify({ version: 1, node: 1, bans: 0, entry: null, more: 1 }), /of this version/],
  ])('a file %s is refused', async (_what, text, problem) => {
    writeFileSync(file, text);
    await expect(open().read()).rejects.toThrow(problem);
  });
});
