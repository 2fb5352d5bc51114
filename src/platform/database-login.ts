import type { DataSource } from 'typeorm';
import { ConfigError } from './config';
import type { DatabaseRole } from './database-roles';

interface LoginRow {
  login: string;
  is_administrator: boolean;
  is_owner: boolean;
  /** All that it is a member of, also by another role. */
  roles: string[];
}

/** `member` and not `usage`: a login that can become another role by SET ROLE is refused as well. */
const findLogin = `
  select r.rolname as login, r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls as is_administrator,
         exists (select from pg_database d where d.datname = current_database() and pg_has_role(d.datdba, 'member'))
           or exists (select from pg_class c where c.relnamespace = 'public'::regnamespace and pg_has_role(c.relowner, 'member')) as is_owner,
         array(select g.rolname::text from pg_roles g where g.oid <> r.oid and pg_has_role(g.oid, 'member') order by 1) as roles
    from pg_roles r where r.rolname = session_user`;

/**
 * Connects, and makes sure that the login has the rights of its process and no others.
 * @throws ConfigError for a login that is not a member of `role` alone, or that owns or administers anything.
 */
export async function connectAs(database: DataSource, role: DatabaseRole): Promise<DataSource> {
  if (!database.isInitialized) await database.initialize();
  try {
    const [row] = await database.query<LoginRow[]>(findLogin);
    const problem = row ? findProblem(row, role) : 'the login is not known to the server';
    if (problem !== null) throw new ConfigError(`DATABASE_URL ${problem}`);
    return database;
  } catch (error) {
    // nothing is served with a login that was not examined
    await database.destroy();
    throw error;
  }
}

function findProblem({ login, is_administrator, is_owner, roles }: LoginRow, role: DatabaseRole): string | null {
  const wanted = `this process needs a login that is a member of ${role} and of nothing else`;
  if (is_administrator) return `names ${login}, an administrator of the server: ${wanted}`;
  if (is_owner) return `names ${login}, the owner of the schema: ${wanted}`;
  if (!roles.includes(role))
    return `names ${login}, which is no member of ${role} (has \`gateway migrate\` run, and \`grant ${role} to ${login}\`?)`;
  if (roles.length > 1) return `names ${login}, which is a member of ${roles.join(' and ')}: ${wanted}`;
  return null;
}
