import { createDatabase } from '../../../src/platform/database';

/** The Postgres of the run speaks no TLS. */
const connect = (query: string) =>
  createDatabase({ url: `${process.env.TEST_POSTGRES_URL ?? ''}?${query}`, poolSize: 2, applicationName: 'test' }).initialize();

it('a url that asks for TLS gets no connection without it', async () => {
  await expect(connect('sslmode=verify-full')).rejects.toThrow('The server does not support SSL connections');
});

it('a url names the file with the authority', async () => {
  await expect(connect('sslmode=verify-full&sslrootcert=/nowhere/database_ca')).rejects.toThrow('/nowhere/database_ca');
});
