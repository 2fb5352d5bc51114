import { type DatabaseRole, databaseRoles } from '../src/platform/database-roles';

/** Rights on tables, by table and role: see rights.ts. */
export type Rights = Record<string, Partial<Record<DatabaseRole, string>>>;

/** Postgres lets only who may update a column lock rows: this column is never anything but null. */
export const rowLock = 'row_lock';
export const mayLock = (granted: string | undefined): boolean => granted?.split(', ').includes('lock') ?? false;

/** The statements that give every role its rights on tables that exist. */
export const toGrants = (rights: Rights): string[] =>
  Object.entries(rights).flatMap(([table, byRole]) =>
    databaseRoles.flatMap((role) => {
      const granted = byRole[role];
      if (granted === undefined) return [];
      return [`grant ${mayLock(granted) ? granted.replace(/\block\b/, `update (${rowLock})`) : granted} on ${table} to ${role}`];
    }),
  );
