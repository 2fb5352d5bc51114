import { randomBytes } from 'node:crypto';
import { type DataSource, type EntityManager, Not } from 'typeorm';
import { ApiKeyEntity, ClientEntity, UserEntity } from '../auth/entity';
import { hashSecret } from '../auth/service';
import { GatewayError, notFound } from '../platform/errors';
import { houseClientId } from '../platform/house';
import { isUuid, newId } from '../platform/ids';
import { auditedOperation } from './audited-operation';
import { withReason } from './confirmation';

export interface IssuedKey {
  keyId: string;
  apiKey: string;
  /** Shown once: only its hash is stored. */
  apiSecret: string;
}

/** Operations on clients, the house excepted, their users and API keys. Changes are audited in the same database transaction. */
export class ClientOperations {
  constructor(private readonly database: DataSource) {}

  async createClient(name: string): Promise<ClientEntity> {
    const clientId = newId();
    await auditedOperation(
      this.database,
      { action: 'client.created', clientId, subject: { type: 'client', id: clientId }, detail: { name } },
      insertNamed(ClientEntity, { clientId, name, status: 'ACTIVE' }, `There is already a client named ${name}`),
    );
    return this.database.manager.findOneByOrFail(ClientEntity, { clientId });
  }

  listClients(): Promise<ClientEntity[]> {
    return this.database.manager.find(ClientEntity, { where: { clientId: Not(houseClientId) }, order: { clientId: 'ASC' } });
  }

  /** By id or name. @throws GatewayError not_found. */
  async findClient(reference: string): Promise<ClientEntity> {
    const client = await this.database.manager.findOneBy(
      ClientEntity,
      isUuid(reference) ? { clientId: reference } : { name: reference },
    );
    if (!client || client.clientId === houseClientId) throw notFound(`client ${reference}`);
    return client;
  }

  /** Takes effect on running API processes within 5 s. */
  async setClientStatus(reference: string, status: ClientEntity['status'], reason?: string): Promise<ClientEntity> {
    const client = await this.findClient(reference);
    const { clientId } = client;
    await auditedOperation(
      this.database,
      {
        action: status === 'ACTIVE' ? 'client.enabled' : 'client.disabled',
        clientId,
        subject: { type: 'client', id: clientId },
        detail: { before: client.status, ...withReason(reason) },
      },
      (manager) => manager.update(ClientEntity, { clientId }, { status }),
    );
    return { ...client, status };
  }

  async createUser(clientReference: string, name: string): Promise<UserEntity> {
    const { clientId } = await this.findClient(clientReference);
    const userId = newId();
    await auditedOperation(
      this.database,
      { action: 'user.created', clientId, subject: { type: 'user', id: userId }, detail: { name } },
      insertNamed(UserEntity, { userId, clientId, name, status: 'ACTIVE' }, `This client already has a user named ${name}`),
    );
    return this.database.manager.findOneByOrFail(UserEntity, { userId });
  }

  async listUsers(clientReference?: string): Promise<UserEntity[]> {
    const where = clientReference === undefined ? {} : { clientId: (await this.findClient(clientReference)).clientId };
    return this.database.manager.find(UserEntity, { where, order: { userId: 'ASC' } });
  }

  async setUserStatus(userId: string, status: UserEntity['status'], reason?: string): Promise<UserEntity> {
    const user = isUuid(userId) ? await this.database.manager.findOneBy(UserEntity, { userId }) : null;
    if (!user) throw notFound(`user ${userId}`);
    await auditedOperation(
      this.database,
      {
        action: status === 'ACTIVE' ? 'user.enabled' : 'user.disabled',
        clientId: user.clientId,
        subject: { type: 'user', id: user.userId },
        detail: { before: user.status, ...withReason(reason) },
      },
      (manager) => manager.update(UserEntity, { userId }, { status }),
    );
    return { ...user, status };
  }

  /** Creates a key for a user, who is identified by id or by name within the client. */
  async createKey(clientReference: string, userReference: string): Promise<IssuedKey> {
    const { clientId } = await this.findClient(clientReference);
    const user = await this.database.manager.findOneBy(UserEntity, {
      clientId,
      ...(isUuid(userReference) ? { userId: userReference } : { name: userReference }),
    });
    if (!user) throw notFound(`user ${userReference} of this client`);
    const issued = {
      keyId: newId(),
      apiKey: `gk_${randomBytes(12).toString('base64url')}`,
      apiSecret: `gs_${randomBytes(32).toString('base64url')}`,
    };
    const { keyId, apiKey, apiSecret } = issued;
    const { userId } = user;
    await auditedOperation(
      this.database,
      {
        action: 'api_key.created',
        clientId,
        subject: { type: 'api_key', id: keyId },
        detail: { user_id: userId, api_key: apiKey },
      },
      (manager) => manager.insert(ApiKeyEntity, { keyId, clientId, userId, apiKey, secretHash: hashSecret(apiSecret) }),
    );
    return issued;
  }

  async listKeys(clientReference?: string): Promise<ApiKeyEntity[]> {
    const where = clientReference === undefined ? {} : { clientId: (await this.findClient(clientReference)).clientId };
    return this.database.manager.find(ApiKeyEntity, { where, order: { keyId: 'ASC' } });
  }

  /** By key id or API key; cannot be undone. Takes effect within 5 s. */
  async revokeKey(reference: string, reason?: string): Promise<ApiKeyEntity> {
    const where = isUuid(reference) ? { keyId: reference } : { apiKey: reference };
    const key = await this.database.manager.findOneBy(ApiKeyEntity, where);
    if (!key) throw notFound(`API key ${reference}`);
    if (key.revokedAt) return key;
    const revokedAt = new Date();
    const { keyId, clientId, userId, apiKey } = key;
    await auditedOperation(
      this.database,
      {
        action: 'api_key.revoked',
        clientId,
        subject: { type: 'api_key', id: keyId },
        detail: { user_id: userId, api_key: apiKey, ...withReason(reason) },
      },
      (manager) => manager.update(ApiKeyEntity, { keyId }, { revokedAt }),
    );
    return { ...key, revokedAt };
  }
}

function insertNamed(entity: typeof ClientEntity | typeof UserEntity, row: object, taken: string) {
  return async (manager: EntityManager): Promise<void> => {
    try {
      await manager.insert(entity, row);
    } catch (error) {
      const { code } = (error as { driverError?: { code?: string } }).driverError ?? {};
      if (code === '23505') throw new GatewayError('business_error', taken);
      if (code === '23514') throw new GatewayError('invalid_parameter', 'A name must have 1 to 100 characters');
      throw error;
    }
  };
}
