import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import type { AttemptKind, Hex } from '../../../src/chains/types';
import type { TransactionEntity } from '../../../src/transactions/entity';
import type { SignedType } from '../../../src/transactions/signed-type';
import { toOrderFacts } from '../../../src/transfers/sign/order-facts';
import { buildEvm, localPlan, toIntent } from '../../evm';
import { buildSettlement, exactPlan, settledAt, toSettlementIntent } from '../../evm-settlements';

/** What the authoriser orders over the attempts of a settlement. */

const chain = loadRegistry('local', ['ethereum']).get('ethereum');
const family = getFamily('evm');
const type = { orderKind: 'settlement' } as SignedType;
const transfer = { txId: 't1', clientId: 'tenant', idempotencyKey: null } as TransactionEntity;

const factsOf = (kind: AttemptKind, unsigned: Hex, intent = toSettlementIntent(exactPlan)) =>
  toOrderFacts(
    { chain, family, type },
    transfer,
    { attempt: 1, kind, intent, prepared: family.recover(unsigned, 10n ** 15n), unsigned, signers: [], clientId: 'house' },
    [],
  );

test.each([
  ['first', 'settlement'],
  ['replacement', 'replacement'],
] as const)('a %s attempt is ordered as a %s, and says whose payment it is', (kind, orderKind) => {
  expect(factsOf(kind, buildSettlement(exactPlan))).toMatchObject({
    kind: orderKind,
    client_id: 'house',
    settlement: {
      client_id: 'tenant',
      method: 'permit2_exact',
      identity: `${exactPlan.payer}/${exactPlan.nonce}`,
      authorised: '1000',
      window_end: settledAt + 60,
    },
  });
});

test('its cancellation settles nothing', () => {
  const plan = localPlan(4, exactPlan.from, exactPlan.from, { kind: 'cancellation', amount: 0n });
  const facts = factsOf('cancellation', buildEvm(plan), toIntent(plan));
  expect(facts.kind).toBe('cancellation');
  expect(facts).not.toHaveProperty('settlement');
});

test('other bytes are not ordered as a settlement', () => {
  const plan = localPlan(4, exactPlan.from, exactPlan.payTo);
  expect(() => factsOf('first', buildEvm(plan), toIntent(plan))).toThrow(/settle nothing/);
});
