import { Client, Connection } from '@temporalio/client';
import { stack } from './client';

/** With a client of the stack's Temporal, which is closed afterwards. */
export async function withTemporal<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const { address, namespace } = stack().temporal;
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection, namespace }));
  } finally {
    await connection.close();
  }
}
