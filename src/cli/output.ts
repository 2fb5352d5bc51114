type Cell = string | number | boolean | Date | null | undefined;
export type Row = Record<string, Cell>;

const formatCell = (cell: Cell): string =>
  cell instanceof Date ? cell.toISOString() : cell === null || cell === undefined ? '-' : printable(String(cell));

/** Removes control characters: names come from clients and must not control the terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');

/** Rows as an aligned table, or as JSON for programs. */
export const printRows = (rows: Row[], json: boolean): void => print(json ? JSON.stringify(rows, null, 2) : formatRows(rows));

/** Rows as an aligned table with the names of the first one's fields. */
export function formatRows(rows: readonly Row[]): string {
  const [first] = rows;
  if (!first) return '(none)';
  const names = Object.keys(first);
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => formatCell(row[name]).length)));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(names), ...rows.map((row) => line(names.map((name) => formatCell(row[name]))))].join('\n');
}

/** One row with a line per field, or as JSON for programs. */
export const printRow = (row: Row, json: boolean): void => print(json ? JSON.stringify(row, null, 2) : formatRow(row));

/** One row with a line per field. */
export function formatRow(row: Row): string {
  const width = Math.max(...Object.keys(row).map((name) => name.length));
  return Object.entries(row)
    .map(([name, cell]) => `${name.padEnd(width)}  ${formatCell(cell)}`)
    .join('\n');
}

/** A list of names after a heading, a text if it is empty, or JSON for programs. */
export function printNames(names: string[], json: boolean, { some, none }: { some: string; none: string }): void {
  if (json)
    printRows(
      names.map((name) => ({ name })),
      true,
    );
  else print(names.length === 0 ? none : `${some}: ${names.join(', ')}`);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
