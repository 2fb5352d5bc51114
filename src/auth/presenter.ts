import type { TokenView } from './schema';

export const presentToken = (token: string, ttlSeconds: number): TokenView => ({
  token,
  token_type: 'Bearer',
  expires_in: ttlSeconds,
});
