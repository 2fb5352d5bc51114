import { ApiKeyEntity } from '../../../src/auth/entity';
import { hashSecret } from '../../../src/auth/service';
import { newId } from '../../../src/platform/ids';
import { buildTotp, buildUser, totpCode } from '../../factories';
import { boxes, type Fixture, type Tenant } from './fixture';

/** A correct code that was not used before. Only three are valid at a time, so the user gets a new factor for each. */
export async function freshCode({ database }: Pick<Fixture, 'database'>, { userId }: Pick<Tenant, 'userId'>): Promise<string> {
  await database.query('delete from user_totp where user_id = $1', [userId]);
  return totpCode(await buildTotp(database, boxes.totp, { userId }));
}

/** Another user of the same client, with a token of its own. */
export async function buildColleague({ database, call }: Fixture, { clientId }: Tenant): Promise<Tenant> {
  const { userId } = await buildUser(database, { clientId });
  const [keyId, apiKey, apiSecret] = [newId(), `key_${newId()}`, newId()];
  await database.manager.insert(ApiKeyEntity, { keyId, clientId, userId, apiKey, secretHash: hashSecret(apiSecret) });
  const { body } = await call('POST', '/auth/token', {
    tenant: null,
    headers: { 'X-API-Key': apiKey, 'X-API-Secret': apiSecret },
  });
  return { clientId, userId, keyId, apiKey, apiSecret, token: String(body['token']) };
}
