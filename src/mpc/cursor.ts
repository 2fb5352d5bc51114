import type { DataSource } from 'typeorm';

/** Rows in memory at once. */
const pageRows = 1_000;

/** All rows of a select statement, a page at a time, as they are at its start. */
export async function* readRows<R>(database: DataSource, select: string): AsyncIterable<R> {
  const runner = database.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query(`declare all_rows no scroll cursor for ${select}`);
    for (let count = pageRows; count === pageRows;) {
      const page = (await runner.query(`fetch ${pageRows} from all_rows`)) as R[];
      yield* page;
      count = page.length;
    }
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}
