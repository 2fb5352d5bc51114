import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { databaseRoles } from '../../platform/database-roles';
import { ConfigError } from '../../platform/config';
import { GatewayError } from '../../platform/errors';
import { databaseLogins, superuserLogin, temporalLogin } from './database-logins';
import { findPasswordWeakness, findUrlWeakness } from './weakness';

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 60_000;
/** SQLSTATE: invalid_password, invalid_authorization_specification. */
const refusedLogins = new Set(['28P01', '28000']);
/** One set-up at a time, in all databases of the server. */
const lockKey = 4_024_001;

interface Wanted {
  login: string;
  password: string;
  /** Where the password comes from, for messages. */
  file: string;
  /** Group role, or null for an owner. */
  role: string | null;
  /** The owner of the gateway's schema makes group roles. */
  createsRoles: boolean;
  /** What it owns, or (a member) connects to. */
  databases: readonly string[];
}

interface DatabaseSetup {
  /** Such as `login gateway_owner`. */
  made: string[];
  /** Nodes without a file in the folder, whose databases are elsewhere, such as `mpc-node-2 (no mpc-node-2_url)`. */
  leftOut: string[];
}

/**
 * Makes the logins and databases of the gateway, of the signing nodes and of Temporal that are missing, and grants a login its
 * group role. Nothing else is changed: no password, no owner, no right that is there.
 * @param folder with the files that `gateway setup files` has written for it
 * @throws GatewayError naming a login or database that is there and is another one; ConfigError when a file is missing or wrong.
 */
export async function setUpDatabases(folder: string): Promise<DatabaseSetup> {
  const superuser = readSecret(folder, 'superuser_url', findUrlWeakness(superuserLogin, 'postgres'));
  const { wanted, leftOut } = readWanted(folder);
  const made: string[] = [];
  await connected(superuser, async (client) => {
    await client.query('select pg_advisory_lock($1)', [lockKey]);
    for (const role of databaseRoles) await makeGroupRole(client, role, made);
    for (const login of wanted) await makeLogin(client, superuser, login, made);
  });
  return { made, leftOut };
}

function readWanted(folder: string): { wanted: Wanted[]; leftOut: string[] } {
  const elsewhere = databaseLogins.filter(({ file, folder: owner }) => isNode(owner) && !existsSync(path.join(folder, file)));
  const logins = databaseLogins.filter((login) => !elsewhere.includes(login));
  const wanted = logins.map(({ login, database, file, role }): Wanted => {
    const url = new URL(readSecret(folder, file, findUrlWeakness(login, database)));
    return { login, password: url.password, file, role, createsRoles: login === 'gateway_owner', databases: [database] };
  });
  const { login, databases, file } = temporalLogin;
  const password = readSecret(folder, file, findPasswordWeakness);
  wanted.push({ login, password, file, role: null, createsRoles: false, databases });
  return { wanted, leftOut: elsewhere.map((node) => `${node.folder} (no ${node.file})`) };
}

const isNode = (folder: string): boolean => folder.startsWith('mpc-node-');

async function makeGroupRole(client: Client, role: string, made: string[]): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role]);
  if (rowCount) return;
  await client.query(`create role ${client.escapeIdentifier(role)} nologin`);
  made.push(`role ${role}`);
}

async function makeLogin(client: Client, superuser: string, wanted: Wanted, made: string[]): Promise<void> {
  const { login, password, role, createsRoles, databases } = wanted;
  const identifier = client.escapeIdentifier(login);
  const known = await client.query<{ is_usable: boolean }>(
    'select rolcanlogin and not rolsuper and not rolbypassrls and not rolreplication and not rolcreatedb as is_usable from pg_roles where rolname = $1',
    [login],
  );
  if (!known.rows[0]) {
    // the passwords are letters and digits: they were checked
    await client.query(
      `create role ${identifier} login ${createsRoles ? 'createrole ' : ''}password ${client.escapeLiteral(password)}`,
    );
    made.push(`login ${login}`);
  } else if (!known.rows[0].is_usable)
    throw conflict(
      `the login ${login} is there, and either cannot log in or administers the server: it has to be an ordinary login`,
    );
  if (role !== null) await grantRole(client, { login, role, databases }, made);
  else for (const database of databases) await makeDatabase(client, database, login, made);
  await assertPassword(superuser, wanted);
}

async function grantRole(
  client: Client,
  { login, role, databases }: Pick<Wanted, 'login' | 'databases'> & { role: string },
  made: string[],
): Promise<void> {
  const roles = await client.query<{ name: string }>(
    `select g.rolname::text as name from pg_auth_members m join pg_roles g on g.oid = m.roleid join pg_roles l on l.oid = m.member where l.rolname = $1`,
    [login],
  );
  const others = roles.rows.map(({ name }) => name).filter((name) => name !== role);
  if (others.length > 0)
    throw conflict(`the login ${login} is a member of ${others.join(' and ')}: it has to be one of ${role} alone`);
  if (roles.rows.length === 0) {
    await client.query(`grant ${client.escapeIdentifier(role)} to ${client.escapeIdentifier(login)}`);
    made.push(`membership of ${login} in ${role}`);
  }
  // the migrations grant it too, but the password is tried before
  const [database = ''] = databases;
  const allowed = await client.query<{ it: boolean }>(`select has_database_privilege($1, $2, 'connect') as it`, [role, database]);
  if (allowed.rows[0]?.it) return;
  await client.query(`grant connect on database ${client.escapeIdentifier(database)} to ${client.escapeIdentifier(role)}`);
  made.push(`right of ${role} to connect to ${database}`);
}

async function makeDatabase(client: Client, database: string, owner: string, made: string[]): Promise<void> {
  const known = await client.query<{ owner: string }>(
    'select pg_get_userbyid(datdba)::text as owner from pg_database where datname = $1',
    [database],
  );
  const [row] = known.rows;
  if (row && row.owner !== owner)
    throw conflict(`the database ${database} belongs to ${row.owner}: it has to belong to ${owner}`);
  if (row) return;
  const identifier = client.escapeIdentifier(database);
  await client.query(`create database ${identifier} owner ${client.escapeIdentifier(owner)}`);
  await client.query(`revoke connect, temporary on database ${identifier} from public`);
  made.push(`database ${database}`);
}

/** By logging in: the server shows no password. */
async function assertPassword(superuser: string, { login, password, file, databases }: Wanted): Promise<void> {
  const url = Object.assign(new URL(superuser), { username: login, password, pathname: `/${databases[0] ?? ''}` });
  try {
    await connected(url.toString(), () => Promise.resolve());
  } catch (error) {
    if (!refusedLogins.has((error as { code?: string }).code ?? '')) throw error;
    throw conflict(`the login ${login} has another password than ${file}: passwords are not changed here`, error);
  }
}

async function connected(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    application_name: 'gateway-setup',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function readSecret(folder: string, name: string, findWeakness: (content: string) => string | null): string {
  const file = path.join(folder, name);
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
  const weakness = findWeakness(content);
  if (weakness !== null) throw new ConfigError(`${file} ${weakness}`);
  return content;
}

const conflict = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('business_error', message, cause === undefined ? {} : { cause });
