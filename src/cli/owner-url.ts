import { readConfig } from '../platform/config';

/** Of the owner of the schema: DATABASE_OWNER_URL, by default DATABASE_URL. @throws ConfigError when neither is set, or one is wrong. */
export const ownerUrl = (): string =>
  readConfig(['DATABASE_OWNER_URL']).DATABASE_OWNER_URL ?? readConfig(['DATABASE_URL']).DATABASE_URL;
