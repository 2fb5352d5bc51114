import fc from 'fast-check';
import type { EntityManager } from 'typeorm';
import { sealAuditLog } from '../../../src/audit/seal';
import { type AuditFinding, verifyAuditLog } from '../../../src/audit/verify';
import { newId } from '../../../src/platform/ids';
import { createTestDatabase, type TestDatabase } from '../../stack/database';
import { afterTampering, writeEvents } from './fixture';

/** Attacks on the log by an administrator of the database who has disabled its triggers. */

let test: TestDatabase;
let sealed: string[];
let waiting: string;
beforeAll(async () => {
  test = await createTestDatabase();
  const { database } = test;
  for (const size of [4, 1, 6, 5]) {
    sealed = [...(sealed ?? []), ...(await writeEvents(database.manager, size))];
    await sealAuditLog(database);
  }
  [waiting = ''] = await writeEvents(database.manager, 1);
});
afterAll(() => test.drop());

const tamper = (work: (manager: EntityManager) => Promise<unknown>) => afterTampering(test.database, work);
const run = (sql: string, parameters: unknown[] = []) => tamper((manager) => manager.query(sql, parameters));
const problemsOf = (findings: AuditFinding[], id: string) =>
  findings.filter(({ auditId }) => auditId === id).map(({ problem }) => problem);
const event = fc.nat(15).map((place) => () => String(sealed[place]));
const seal = fc.integer({ min: 1, max: 4 });

it('finds nothing in a log as it was sealed', async () => {
  expect(await verifyAuditLog(test.database)).toMatchObject({ found: 0, events: 16, seals: 4, waiting: 1 });
  expect(await run('select 1')).toEqual([]);
});

describe('events', () => {
  const changes: Record<string, fc.Arbitrary<string>> = {
    at: fc.constantFrom(`at + interval '1 microsecond'`, `'infinity'`, `at - interval '4000 years'`),
    action: fc.constantFrom(`'wallet.resumed'`, `action || ' '`),
    outcome: fc.constant(`case outcome when 'success' then 'refused' else 'success' end`),
    actor_type: fc.constant(`'system'`),
    actor_id: fc.string({ minLength: 1, maxLength: 20 }).map((text) => `'x${text.replace(/['\0]/g, '')}' || actor_id`),
    client_id: fc.constantFrom('gen_random_uuid()', 'case when client_id is null then gen_random_uuid() end'),
    subject_type: fc.constantFrom(`'null'`, `case when subject_type is null then '' end`),
    subject_id: fc.constantFrom(`'x'`, `case when subject_id is null then '' end`),
    detail: fc.constantFrom(
      `'{}'`,
      `detail || '{"sure": false}'`,
      `detail || '{"amount": 0.10}'`,
      `detail || '{"amount": "0.1"}'`,
      `detail - 'nothing'`,
    ),
    request_id: fc.constantFrom(`'x'`, `case when request_id is null then '' end`),
  };
  const change = fc
    .constantFrom(...Object.keys(changes))
    .chain((column) => (changes[column] as fc.Arbitrary<string>).map((value) => ({ column, value })));

  it('any column changed is found, and the row named', () =>
    fc.assert(
      fc.asyncProperty(event, change, async (id, { column, value }) => {
        const findings = await run(`update audit_events set ${column} = ${value} where audit_id = $1`, [id()]);
        expect(findings).toEqual([{ auditId: id(), seal: expect.any(Number), problem: 'was changed after it was sealed' }]);
      }),
      { numRuns: 60 },
    ));

  it('a removed row is named', () =>
    fc.assert(
      fc.asyncProperty(event, async (id) => {
        const findings = await run('delete from audit_events where audit_id = $1', [id()]);
        expect(findings).toEqual([{ auditId: id(), seal: expect.any(Number), problem: 'was removed after it was sealed' }]);
      }),
      { numRuns: 16 },
    ));

  it('two rows that change places are both named', () =>
    fc.assert(
      fc.asyncProperty(event, event, async (one, other) => {
        fc.pre(one() !== other());
        const findings = await tamper(async (manager) => {
          const aside = newId();
          for (const [from, to] of [
            [one(), aside],
            [other(), one()],
            [aside, other()],
          ])
            await manager.query('update audit_events set audit_id = $2 where audit_id = $1', [from, to]);
        });
        for (const id of [one(), other()]) expect(problemsOf(findings, id)).toEqual(['was changed after it was sealed']);
        expect(findings).toHaveLength(2);
      }),
      { numRuns: 20 },
    ));

  it('a row under another id: the old one is missing, the new one was never sealed', async () => {
    const [id, other] = [String(sealed[3]), newId()];
    const findings = await run('update audit_events set audit_id = $2 where audit_id = $1', [id, other]);
    expect(problemsOf(findings, id)).toEqual(['was removed after it was sealed']);
    expect(problemsOf(findings, other)).toEqual([expect.stringContaining('inserted without the trigger')]);
  });

  it('a row inserted without the trigger is reported, whatever its time', async () => {
    for (const at of [`now()`, `'2001-01-01'`, `'infinity'`]) {
      const id = newId();
      const findings = await run(
        `insert into audit_events (audit_id, at, action, outcome, actor_type, actor_id) values ($1, ${at}, 'x', 'success', 'system', 'x')`,
        [id],
      );
      expect(findings).toEqual([{ auditId: id, seal: null, problem: expect.stringContaining('inserted without the trigger') }]);
    }
  });

  it('a row that is queued and never sealed is named after a minute', async () => {
    const findings = await run(`update audit_events set at = at - interval '61 seconds' where audit_id = $1`, [waiting]);
    expect(findings).toEqual([{ auditId: waiting, seal: null, problem: expect.stringContaining('over a minute') }]);
  });
});

describe('the queue', () => {
  it('an entry that is removed, so that its row would never be sealed', async () => {
    const findings = await run('delete from audit_pending');
    expect(findings).toEqual([{ auditId: waiting, seal: null, problem: expect.stringContaining('neither sealed nor queued') }]);
  });

  it('a row that is removed before it is sealed', async () => {
    const findings = await run('delete from audit_events where audit_id = $1', [waiting]);
    expect(findings).toEqual([{ auditId: waiting, seal: null, problem: 'was removed before it was sealed' }]);
  });

  it('a sealed row that is queued again is named, and does not block the sealer', async () => {
    const other = await createTestDatabase();
    try {
      const [id] = await writeEvents(other.database.manager, 1);
      await sealAuditLog(other.database);
      await other.database.query('insert into audit_pending values ($1), (gen_random_uuid())', [id]);
      await writeEvents(other.database.manager, 1);
      expect(await sealAuditLog(other.database)).toBe(1);
      const { findings } = await verifyAuditLog(other.database);
      expect(findings.map(({ problem }) => problem).sort()).toEqual([
        'is queued although it is sealed',
        'was removed before it was sealed',
      ]);
    } finally {
      await other.drop();
    }
  });
});

describe('seals', () => {
  it('any column changed is found, and the seal named', () =>
    fc.assert(
      fc.asyncProperty(
        seal,
        fc.constantFrom(
          ['events', 'events + 1'],
          ['sealed_at', `sealed_at + interval '1 microsecond'`],
          ['prev_hash', `sha256('x')`],
          ['hash', `sha256('x')`],
          ['seq', 'seq + 10'],
        ),
        async (seq, [column, value]) => {
          const findings = await run(`update audit_seals set ${column} = ${value} where seq = $1`, [seq]);
          expect(findings).toContainEqual({ auditId: null, seal: seq, problem: expect.any(String) });
          // a changed number is a missing seal and an additional one
          if (column !== 'seq') expect(new Set(findings.map((finding) => finding.seal))).toEqual(new Set([seq]));
        },
      ),
      { numRuns: 20 },
    ));

  it('a removed seal is named, with and without its entries', () =>
    fc.assert(
      fc.asyncProperty(seal, fc.boolean(), async (seq, whole) => {
        const findings = await tamper(async (manager) => {
          await manager.query('delete from audit_seals where seq = $1', [seq]);
          if (whole) await manager.query('delete from audit_seal_entries where seq = $1', [seq]);
        });
        // without the last one the rest is a valid chain: its unsealed rows are found
        if (seq < 4 || !whole) expect(findings).toContainEqual({ auditId: null, seal: seq, problem: 'was removed' });
        else expect(findings).toHaveLength(5);
      }),
      { numRuns: 12 },
    ));

  it('a chain that was relinked after a seal was removed', async () => {
    const findings = await tamper(async (manager) => {
      await manager.query(`delete from audit_seal_entries where seq = 2`);
      await manager.query(`delete from audit_seals where seq = 2`);
      await manager.query(`update audit_seal_entries set seq = seq - 1 where seq > 2`);
      await manager.query(`update audit_seals set seq = seq - 1 where seq > 2`);
    });
    expect(findings.filter(({ seal: seq }) => seq !== null)).toContainEqual({
      auditId: null,
      seal: 2,
      problem: expect.stringContaining('does not continue seal 1'),
    });
    expect(problemsOf(findings, String(sealed[4]))).toHaveLength(1);
  });
});

describe('entries of seals', () => {
  it('a removed one: its row and its seal are named', () =>
    fc.assert(
      fc.asyncProperty(event, async (id) => {
        const findings = await run('delete from audit_seal_entries where audit_id = $1', [id()]);
        expect(problemsOf(findings, id())).toEqual([expect.stringContaining('its entry was removed')]);
        expect(findings).toContainEqual({
          auditId: null,
          seal: expect.any(Number),
          problem: expect.stringMatching(/^has \d entries of \d/),
        });
      }),
      { numRuns: 16 },
    ));

  it('a row removed together with its entry: its seal is named', async () => {
    const findings = await tamper(async (manager) => {
      await manager.query('delete from audit_events where audit_id = $1', [sealed[6]]);
      await manager.query('delete from audit_seal_entries where audit_id = $1', [sealed[6]]);
    });
    expect(findings).toContainEqual({ auditId: null, seal: 3, problem: 'has 5 entries of 6' });
  });

  it('a changed hash: the row is named, and it is the entry that was changed', async () => {
    const findings = await run(`update audit_seal_entries set row_hash = sha256('x') where audit_id = $1`, [sealed[7]]);
    expect(findings).toEqual([{ auditId: sealed[7], seal: 3, problem: 'has a changed hash in its seal' }]);
  });

  it('reordered ones are named', async () => {
    const findings = await tamper(async (manager) => {
      for (const [from, to] of [
        [1, 999],
        [4, 1],
        [999, 4],
      ])
        await manager.query('update audit_seal_entries set position = $2 where seq = 3 and position = $1', [from, to]);
    });
    expect(findings.map(({ auditId }) => auditId)).toEqual([sealed[9], sealed[6]]);
    expect(findings[0]).toMatchObject({ seal: 3, problem: 'is at another position than when it was sealed' });
  });

  it('one moved to another seal: both seals are named', async () => {
    const findings = await run('update audit_seal_entries set seq = 4, position = 5 where audit_id = $1', [sealed[0]]);
    expect(new Set(findings.map((finding) => finding.seal))).toEqual(new Set([1, 4]));
  });

  it('a row changed together with its hash: its seal no longer follows', async () => {
    const findings = await tamper(async (manager) => {
      await manager.query(`update audit_events set actor_id = 'x' where audit_id = $1`, [sealed[2]]);
      await manager.query(`update audit_seal_entries set row_hash = sha256('x') where audit_id = $1`, [sealed[2]]);
    });
    expect(findings).toContainEqual({ auditId: sealed[2], seal: 1, problem: 'was changed after it was sealed' });
    expect(findings).toContainEqual({ auditId: null, seal: 1, problem: expect.stringContaining('was changed: its hash') });
  });
});

it('a truncated or completely rewritten log is detected by a head stored elsewhere', async () => {
  const other = await createTestDatabase();
  const { database } = other;
  const superuser = (sql: string) =>
    database.transaction(async (manager) => {
      await manager.query(`set local session_replication_role = 'replica'`);
      await manager.query(sql);
    });
  try {
    await writeEvents(database.manager, 3);
    await sealAuditLog(database);
    await writeEvents(database.manager, 2);
    await sealAuditLog(database);
    const { head } = await verifyAuditLog(database);
    const found = { findings: [{ auditId: null, seal: 2, problem: expect.stringContaining('truncated or rewritten') }] };

    await superuser(`delete from audit_events using audit_seal_entries s where s.audit_id = audit_events.audit_id and s.seq = 2;
                     delete from audit_seal_entries where seq = 2; delete from audit_seals where seq = 2`);
    expect(await verifyAuditLog(database)).toMatchObject({ found: 0, seals: 1 });
    expect(await verifyAuditLog(database, [head])).toMatchObject(found);

    await superuser(`truncate audit_seals, audit_seal_entries; update audit_events set actor_id = 'nobody';
                     insert into audit_pending select audit_id from audit_events`);
    await sealAuditLog(database);
    await writeEvents(database.manager, 2);
    await sealAuditLog(database);
    expect(await verifyAuditLog(database)).toMatchObject({ found: 0, seals: 2 });
    expect(await verifyAuditLog(database, [head])).toMatchObject(found);
    const { head: rewritten } = await verifyAuditLog(database);
    expect(await verifyAuditLog(database, [head, rewritten])).toMatchObject(found);
  } finally {
    await other.drop();
  }
});
