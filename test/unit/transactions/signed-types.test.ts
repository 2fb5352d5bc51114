import type { EntityManager } from 'typeorm';
import { getSignedType } from '../../../src/signed-types';
import type { TransactionEntity } from '../../../src/transactions/entity';
import { authorisationType, timedTypes, type TransactionType, transactionTypes } from '../../../src/transactions/types';

const signed = Object.entries(transactionTypes).flatMap(([name, { isSigned }]) => (isSigned ? [name as TransactionType] : []));

test('statements that name types name those that the table has: abandoned by time, and handed out', async () => {
  const failing = { query: () => Promise.reject(new Error('asked')), findOne: () => Promise.reject(new Error('asked')) };
  const isTimed = async (name: TransactionType): Promise<boolean> => {
    const type = getSignedType(name);
    const left = await Promise.resolve()
      .then(() => type.timeLeft(failing as unknown as EntityManager, { txId: 'a', parentTxId: 'b' } as TransactionEntity))
      .catch(() => 0);
    return left !== null;
  };
  const timed: TransactionType[] = [];
  for (const name of signed) if (await isTimed(name)) timed.push(name);
  expect(timed.sort()).toEqual([...timedTypes].sort());
  expect(signed.filter((name) => getSignedType(name).isHandedOut)).toEqual([authorisationType]);
});
