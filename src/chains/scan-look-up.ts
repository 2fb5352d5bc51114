import { GatewayError } from '../platform/errors';
import type { IsOurs } from './chain-client';

/** For a scan that one endpoint after the other tries: a look-up that fails ends it. @throws GatewayError as the look-up; unavailable */
export const endingScan =
  (isOurs: IsOurs): IsOurs =>
  (keys) =>
    isOurs(keys).catch((error: unknown) => {
      // the endpoint is not at fault: another one must not be tried
      throw error instanceof GatewayError
        ? error
        : new GatewayError('unavailable', 'The look-up of deposit addresses failed', { cause: error });
    });
