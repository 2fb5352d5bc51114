import { Column, Entity, PrimaryColumn } from 'typeorm';
import { atomicColumn } from '../../../src/platform/columns';
import { entityColumns, insertionOf } from '../../../src/platform/entity-columns';

@Entity('things')
class ThingEntity {
  @PrimaryColumn('uuid', { name: 'thing_id' }) thingId!: string;
  @Column('text') label!: string;
  @Column({ type: 'numeric', name: 'atomic_amount', transformer: atomicColumn }) atomicAmount!: bigint;
  @Column({ type: 'text', nullable: true }) note!: string | null;
  /** No column. */
  other?: string;
}

test('selects and reads some columns, with the names and conversions of the entity', () => {
  const columns = entityColumns(ThingEntity, 't', ['thingId', 'atomicAmount', 'note']);
  expect(columns.select).toBe('t.thing_id as "t.thingId", t.atomic_amount as "t.atomicAmount", t.note as "t.note"');
  const row = {
    't.thingId': 'a',
    't.atomicAmount': '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    't.note': null,
  };
  expect(columns.read(row)).toEqual({ thingId: 'a', atomicAmount: 2n ** 256n - 1n, note: null });
});

test('a row that an outer join has not found is null', () => {
  const columns = entityColumns(ThingEntity, 't', ['thingId', 'atomicAmount']);
  expect(columns.read({ 't.thingId': null, 't.atomicAmount': null })).toBeNull();
});

test('inserts what is given: undefined is left to the default, null is not', () => {
  const { text, values } = insertionOf(ThingEntity, { thingId: 'a', atomicAmount: 12n, note: null, label: undefined });
  expect(text).toBe('insert into things (thing_id, atomic_amount, note) values ($1, $2, $3)');
  expect(values).toEqual(['a', '12', null]);
});

test('refuses fields that are no columns, and classes that are no entities', () => {
  expect(() => entityColumns(ThingEntity, 't', ['thingId', 'other' as 'note'])).toThrow('ThingEntity has no column for other');
  expect(() => insertionOf(ThingEntity, { other: 'x' })).toThrow('ThingEntity has no column for other');
  class Plain {
    id = 1;
  }
  expect(() => insertionOf(Plain, { id: 1 })).toThrow('Plain has no table');
});
