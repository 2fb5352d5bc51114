/** bigint for numeric(78,0) and bigint columns, which the Postgres driver returns as text. */
export const atomicColumn = {
  to: (value: bigint | null | undefined): string | null | undefined => (typeof value === 'bigint' ? value.toString() : value),
  from: (value: string | null): bigint | null => (value === null ? null : BigInt(value)),
};
