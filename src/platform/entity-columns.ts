import { getMetadataArgsStorage, type ValueTransformer } from 'typeorm';

type Raw = Record<string, unknown>;
type ColumnMetadata = ReturnType<ReturnType<typeof getMetadataArgsStorage>['filterColumns']>[number];

/** Some columns of an entity, for statements that are written by hand. */
export interface EntityColumns<T> {
  /** For the select list, with names of their own. */
  select: string;
  /** From a row of such a statement; null where an outer join has found none. */
  read(row: Raw): T | null;
}

/**
 * The first field has to be one that is never null. `alias`: of the table in the statement. To build a query and its objects takes TypeORM half a
 * millisecond, which is most of a short read; names and conversions are the entity's.
 * @throws Error for a field that is no column.
 */
export function entityColumns<E extends object, F extends keyof E & string>(
  entity: new () => E,
  alias: string,
  fields: readonly [F, ...F[]],
): EntityColumns<Pick<E, F>> {
  const known = fields.map((field) => ({ ...columnOf(entity, field), key: `${alias}.${field}` }));
  const firstKey = `${alias}.${fields[0]}`;
  return {
    select: known.map(({ name, key }) => `${alias}.${name} as "${key}"`).join(', '),
    read: (row) => {
      if (row[firstKey] === null) return null;
      const read: Raw = {};
      for (const { field, key, from } of known) read[field] = from(row[key]);
      return read as Pick<E, F>;
    },
  };
}

export interface Insertion {
  /** Of an insert statement without its end, such as `on conflict`. */
  text: string;
  values: unknown[];
}

/** One row of an entity; columns of fields that are undefined get their default. @throws Error for a field that is no column. */
export function insertionOf<E extends object>(entity: new () => E, row: Partial<E>): Insertion {
  const given = Object.entries(row).filter(([, value]) => value !== undefined);
  const columns = given.map(([field]) => columnOf(entity, field));
  const names = columns.map(({ name }) => name).join(', ');
  const places = columns.map((_, index) => `$${index + 1}`).join(', ');
  return {
    text: `insert into ${describe(entity).table} (${names}) values (${places})`,
    values: columns.map(({ to }, index) => to(given[index]?.[1])),
  };
}

interface Column {
  field: string;
  name: string;
  to: (value: unknown) => unknown;
  from: (value: unknown) => unknown;
}

interface Described {
  table: string;
  columns: Map<string, Column>;
}

const described = new Map<new () => object, Described>();

function columnOf(entity: new () => object, field: string): Column {
  const column = describe(entity).columns.get(field);
  if (!column) throw new Error(`${entity.name} has no column for ${field}`);
  return column;
}

function describe(entity: new () => object): Described {
  const known = described.get(entity);
  if (known) return known;
  const metadata = getMetadataArgsStorage();
  const table = metadata.tables.find(({ target }) => target === entity)?.name;
  if (!table) throw new Error(`${entity.name} has no table`);
  const columns = metadata.filterColumns(entity).map(toColumn);
  const made = { table, columns: new Map(columns.map((column) => [column.field, column])) };
  described.set(entity, made);
  return made;
}

function toColumn({ propertyName: field, options: { name = field, transformer } }: ColumnMetadata): Column {
  const converter = (transformer ?? same) as ValueTransformer;
  return {
    field,
    name,
    to: (value) => converter.to(value) as unknown,
    from: (value) => converter.from(value) as unknown,
  };
}

const same = { to: (value: unknown) => value, from: (value: unknown) => value };
