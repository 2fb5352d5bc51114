import { Client } from 'pg';
import { type DatabaseRole, databaseRoles } from '../src/platform/database-roles';

/** Url of the gateway's database for each role, with a login of its own. */
export type LoginUrls = Record<DatabaseRole, string>;

/**
 * Creates a login for each role of a migrated database, named after the database since logins belong to the whole cluster. Repeated
 * calls only set the passwords. `owner`: a login that may create others and grant the roles.
 */
export async function createLogins(owner: string, passwordOf: (login: string) => string): Promise<LoginUrls> {
  const client = new Client({ connectionString: owner, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const urls: Partial<LoginUrls> = {};
    for (const role of databaseRoles) {
      const login = loginName(owner, role);
      const password = passwordOf(login);
      const known = await client.query('select 1 from pg_roles where rolname = $1', [login]);
      const identifier = client.escapeIdentifier(login);
      await client.query(
        `${known.rowCount ? 'alter' : 'create'} role ${identifier} login password ${client.escapeLiteral(password)}`,
      );
      await client.query(`grant ${role} to ${identifier}`);
      urls[role] = withLogin(owner, login, password);
    }
    return urls as LoginUrls;
  } finally {
    await client.end();
  }
}

/** Of the database that the url names. */
export const loginName = (url: string, role: DatabaseRole): string => `${new URL(url).pathname.slice(1)}_${role}_login`;

function withLogin(url: string, login: string, password: string): string {
  const result = new URL(url);
  result.username = login;
  result.password = password;
  return result.toString();
}

/** The same logins at another address: of a proxy. */
export function withAddress(urls: LoginUrls, address: string): LoginUrls {
  const { host } = new URL(address);
  const routed = Object.entries(urls).map(([role, url]) => [role, Object.assign(new URL(url), { host }).toString()]);
  return Object.fromEntries(routed) as LoginUrls;
}
