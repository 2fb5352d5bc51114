import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { JournalMark } from '../../../src/mpc/journal-mark';
import { MarkWatch } from '../../../src/mpc/mark-watch';
import { metricValue } from '../../metrics';

describe('a journal mark that cannot be written', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mark-watch-'));
  const file = path.join(folder, 'mark.json');
  /** In the way of the file that each write makes first. */
  const obstacle = `${file}.new`;
  afterAll(() => rmSync(folder, { recursive: true }));

  function create(retryMs: number) {
    const lines: { alert?: string }[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as { alert?: string }) });
    const mark = new JournalMark(file, 1);
    const watch = new MarkWatch({ self: 1, mark, logger, retryMs });
    const alarms = () => lines.filter(({ alert }) => alert === 'journal_mark_unwritable').length;
    return { mark, watch, alarms };
  }
  const fails = (number: number, mark: JournalMark) => expect(mark.raiseEntry(number, 'a'.repeat(64))).rejects.toThrow(/EISDIR/);

  test('keeps sessions from beginning until a write succeeds, with one alarm', async () => {
    const { mark, watch, alarms } = create(60_000);
    await mark.reset({ bans: 0, entry: null });
    expect(() => watch.assertWritable()).not.toThrow();
    mkdirSync(obstacle);
    await fails(1, mark);
    await fails(2, mark);
    expect(() => watch.assertWritable()).toThrow(expect.objectContaining({ code: 'journal_behind' }));
    expect(alarms()).toBe(1);
    expect(await metricValue('gateway_mpc_journal_mark_unwritable')).toBe(1);
    rmdirSync(obstacle);
    await mark.rewrite();
    expect(() => watch.assertWritable()).not.toThrow();
    expect(await metricValue('gateway_mpc_journal_mark_unwritable')).toBe(0);
    expect(await new JournalMark(file, 1).read()).toMatchObject({ entry: { number: 2 } });
    // a later failure is another alarm
    mkdirSync(obstacle);
    await fails(3, mark);
    expect(alarms()).toBe(2);
    rmdirSync(obstacle);
    watch.close();
    await mark.close();
  });

  test('is written again by itself', async () => {
    const { mark, watch } = create(20);
    mkdirSync(obstacle);
    await fails(4, mark);
    rmdirSync(obstacle);
    for (let tries = 0; !watch.isWritable && tries < 100; tries += 1) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(watch.isWritable).toBe(true);
    expect(await new JournalMark(file, 1).read()).toMatchObject({ entry: { number: 4 } });
    watch.close();
    await mark.close();
  });
});
