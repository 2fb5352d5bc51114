import { GatewayError } from '../../../src/platform/errors';
import { readCommitted } from '../../../src/platform/database';

const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

test('what is read is the answer', async () => {
  expect(await readCommitted(() => Promise.resolve(7))).toBe(7);
});

test('a database that is gone by then leaves the outcome unknown, with what names it: nothing says that it was not carried out', async () => {
  await expect(readCommitted(() => Promise.reject(lost), { tx_id: 'x' })).rejects.toMatchObject({
    ...{ code: 'outcome_unknown', extra: { tx_id: 'x' }, cause: lost },
  });
});

test.each([new GatewayError('not_found', 'payment not found'), new TypeError('a mistake')])(
  '%s stays what it is',
  async (error) => {
    await expect(readCommitted(() => Promise.reject(error))).rejects.toBe(error);
  },
);
