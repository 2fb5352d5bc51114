import type { Config } from '../../platform/config';

export interface LimitSettings {
  /** Requests of one client with a token. */
  clientPerMinute: number;
  /** Requests of one address, with or without a token. */
  addressPerMinute: number;
  /** Requests for tokens of one address. */
  tokenPerMinute: number;
  /** Requests of one client to routes that take a second factor. */
  mfaPerMinute: number;
  /** Concurrent requests of one client in one process. */
  inFlightPerClient: number;
  /** Concurrent requests in one process. */
  inFlight: number;
  /** How long a count in Postgres may take before requests are counted in memory, in ms; 500 by default. */
  storeTimeoutMs?: number;
}

export const limitVariables = [
  'RATE_LIMIT_CLIENT_PER_MINUTE',
  'RATE_LIMIT_ADDRESS_PER_MINUTE',
  'RATE_LIMIT_TOKEN_PER_MINUTE',
  'RATE_LIMIT_MFA_PER_MINUTE',
  'MAX_REQUESTS_IN_FLIGHT_PER_CLIENT',
  'MAX_REQUESTS_IN_FLIGHT',
] as const;

export const toLimitSettings = (config: Config<(typeof limitVariables)[number]>): LimitSettings => ({
  clientPerMinute: config.RATE_LIMIT_CLIENT_PER_MINUTE,
  addressPerMinute: config.RATE_LIMIT_ADDRESS_PER_MINUTE,
  tokenPerMinute: config.RATE_LIMIT_TOKEN_PER_MINUTE,
  mfaPerMinute: config.RATE_LIMIT_MFA_PER_MINUTE,
  inFlightPerClient: config.MAX_REQUESTS_IN_FLIGHT_PER_CLIENT,
  inFlight: config.MAX_REQUESTS_IN_FLIGHT,
});
