import type { DataSource } from 'typeorm';
import { totpOwner } from '../mfa/totp';
import type { SecretBox } from '../platform/secret-box';

const batch = 500;

/** Seals every TOTP secret anew under the first key of SECRETS_KEY, so that the others can go. Returns how many there were. */
export async function resealTotpSecrets(database: DataSource, box: SecretBox): Promise<number> {
  let resealed = 0;
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const rows = await database.query<{ user_id: string; secret: Buffer }[]>(
      'select user_id, secret from user_totp where user_id > $1 order by user_id limit $2',
      [after, batch],
    );
    for (const { user_id: userId, secret } of rows) {
      const owner = totpOwner(userId);
      // one that was enrolled anew meanwhile is left alone
      await database.query('update user_totp set secret = $3 where user_id = $1 and secret = $2', [
        userId,
        secret,
        box.seal(box.open(secret, owner), owner),
      ]);
    }
    resealed += rows.length;
    const last = rows.at(-1);
    if (!last) return resealed;
    after = last.user_id;
  }
}
