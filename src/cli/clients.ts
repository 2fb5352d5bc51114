import type { Command } from 'commander';
import type { ApiKeyEntity, ClientEntity, UserEntity } from '../auth/entity';
import { ClientOperations } from './client-operations';
import { type PolicyChange, PolicyOperations } from './policy-operations';
import { print, printRow, printRows } from './output';
import type { Session } from './session';
import { cannotBeUndone, confirm, type Confirmation, hasReason, type Reasoned } from './confirmation';
import type { Run } from './run';

const clientRow = ({ clientId, name, status, createdAt }: ClientEntity) => ({
  client_id: clientId,
  name,
  status,
  created_at: createdAt,
});
const userRow = ({ userId, clientId, name, status, createdAt }: UserEntity) => ({
  user_id: userId,
  client_id: clientId,
  name,
  status,
  created_at: createdAt,
});
const keyRow = ({ keyId, clientId, userId, apiKey, createdAt, revokedAt }: ApiKeyEntity) => ({
  key_id: keyId,
  client_id: clientId,
  user_id: userId,
  api_key: apiKey,
  created_at: createdAt,
  revoked_at: revokedAt,
});
const operations = ({ database }: Session) => new ClientOperations(database);

/** client, user, api-key */
export function addClientCommands(program: Command, run: Run): void {
  const client = program.command('client').description('clients: the tenants of the gateway');
  client
    .command('create <name>')
    .description('create a client')
    .action(
      run(async (session, name: string) => printRow(clientRow(await operations(session).createClient(name)), session.json)),
    );
  client
    .command('list')
    .description('list all clients')
    .action(run(async (session) => printRows((await operations(session).listClients()).map(clientRow), session.json)));
  for (const [verb, status] of [
    ['disable', 'DISABLED'],
    ['enable', 'ACTIVE'],
  ] as const) {
    hasReason(client.command(`${verb} <client>`))
      .description(`${verb} a client, by id or name (within 5 s)`)
      .action(
        run(async (session, reference: string, { reason }: Reasoned) =>
          printRow(clientRow(await operations(session).setClientStatus(reference, status, reason)), session.json),
        ),
      );
  }

  hasReason(client.command('policy <client>'))
    .description('show or set the transfer policy of a client, by id or name')
    .option('--whitelist <mode>', 'off; approve: transfers to other addresses need an approval; only: they are refused')
    .option('--cooling <seconds>', 'seconds until a whitelist entry takes effect after it was added or activated')
    .option(
      '--self-approval <rule>',
      'allow or refuse: users approve transfers they requested themselves, although another user could',
    )
    .action(
      run(async (session, reference: string, options: PolicyChange) => {
        const { clientId } = await operations(session).findClient(reference);
        const policies = new PolicyOperations(session.database);
        const { whitelist, cooling, selfApproval } = options;
        const isChange = [whitelist, cooling, selfApproval].some((value) => value !== undefined);
        const policy = await (isChange ? policies.set(clientId, options) : policies.show(clientId));
        printRow(
          {
            client_id: clientId,
            whitelist: policy.whitelist,
            cooling_seconds: policy.coolingSeconds,
            self_approval: policy.selfApproval ? 'allow' : 'refuse',
          },
          session.json,
        );
      }),
    );

  const user = program.command('user').description('users of a client');
  user
    .command('create <client> <name>')
    .description('create a user of a client (by id or name)')
    .action(
      run(async (session, reference: string, name: string) =>
        printRow(userRow(await operations(session).createUser(reference, name)), session.json),
      ),
    );
  user
    .command('list [client]')
    .description('list users, of one client or of all')
    .action(
      run(async (session, reference?: string) =>
        printRows((await operations(session).listUsers(reference)).map(userRow), session.json),
      ),
    );
  for (const [verb, status] of [
    ['disable', 'DISABLED'],
    ['enable', 'ACTIVE'],
  ] as const) {
    hasReason(user.command(`${verb} <user-id>`))
      .description(`${verb} a user (within 5 s)`)
      .action(
        run(async (session, userId: string, { reason }: Reasoned) =>
          printRow(userRow(await operations(session).setUserStatus(userId, status, reason)), session.json),
        ),
      );
  }

  const key = program.command('api-key').description('API keys of users');
  key
    .command('create <client> <user>')
    .description('create an API key for a user (by id or name); the secret is shown once')
    .action(
      run(async (session, clientReference: string, userReference: string) => {
        const { keyId, apiKey, apiSecret } = await operations(session).createKey(clientReference, userReference);
        printRow({ key_id: keyId, api_key: apiKey, api_secret: apiSecret }, session.json);
        if (!session.json) print('\nStore the secret now: it cannot be shown again.');
      }),
    );
  key
    .command('list [client]')
    .description('list API keys, of one client or of all')
    .action(
      run(async (session, reference?: string) =>
        printRows((await operations(session).listKeys(reference)).map(keyRow), session.json),
      ),
    );
  cannotBeUndone(key.command('revoke <api-key>'))
    .description('revoke an API key permanently, by key id or key (within 5 s)')
    .action(
      run(async (session, reference: string, confirmation: Confirmation) => {
        await confirm(`revoke API key ${reference}`, confirmation);
        printRow(keyRow(await operations(session).revokeKey(reference, confirmation.reason)), session.json);
      }),
    );
}
