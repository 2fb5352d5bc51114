import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type DatabaseRole, databaseRoles } from '../src/platform/database-roles';
import { mayLock, rowLock, toGrants } from './grants';
import { rights } from './rights';

/**
 * Roles belong to the whole cluster: another database may have created them, also at this moment. A member of such a role has no
 * right in a database that has granted it none.
 */
const createRole = (role: DatabaseRole): string => /* sql */ `
do $$ begin
  if exists (select from pg_roles where rolname = '${role}') then return; end if;
  if not (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) then
    raise exception 'the role ${role} does not exist, and % may not create it: give it CREATEROLE, or have an administrator run "create role ${role} nologin"',
      current_user using errcode = 'insufficient_privilege';
  end if;
  create role ${role} nologin;
exception when duplicate_object or unique_violation then null;
end $$`;

/** Nobody has a right that is not granted: not to connect, and not to call a function, also of later migrations. */
const denyByDefault = [
  `do $$ begin execute format('revoke all on database %I from public', current_database()); end $$`,
  `revoke all on schema public from public`,
  `do $$ declare f regprocedure; begin
     for f in select oid from pg_proc where pronamespace = 'public'::regnamespace and proowner = current_user::regrole loop
       execute format('revoke execute on function %s from public', f);
     end loop;
   end $$`,
  `alter default privileges revoke execute on functions from public`,
];

const everyRole = databaseRoles.join(', ');
const common = [
  `do $$ begin execute format('grant connect on database %I to ${everyRole}', current_database()); end $$`,
  `grant usage on schema public to ${everyRole}`,
  'grant usage on sequence order_numbers to gateway_authoriser',
  // what rules and defaults call in the name of who writes; functions that write as the owner are for who has no trigger for them
  `grant execute on function all_attempts_impossible(uuid), chain_shows_end(transactions), time_ordered_uuid() to ${everyRole}`,
  'grant execute on function enqueue_webhook_event(uuid, text, uuid, jsonb), too_late(uuid, uuid, timestamptz) to gateway_worker',
];

const lockColumns = Object.entries(rights)
  .filter(([, byRole]) => Object.values(byRole).some(mayLock))
  .map(([table]) => `alter table ${table} add column ${rowLock} boolean check (${rowLock} is null)`);

/** The roles of the processes and their rights. */
export class Logins0018 implements MigrationInterface {
  readonly name = 'Logins1700000000018';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...databaseRoles.map(createRole), ...denyByDefault, ...common, ...lockColumns, ...toGrants(rights)])
      await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rights of the processes are not dropped by a migration'));
  }
}
