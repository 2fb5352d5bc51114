import { createHash, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../platform/errors';
import type { CredentialRepository } from './repository';
import type { LoginThrottle } from './throttle';
import type { AccessTokens } from './tokens';

/** Stands in for the hash of an unknown key, so that both refusals do the same work. */
const nobodysHash = Buffer.alloc(32);
const maxCredentialLength = 200;

export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export interface LoginRequest {
  apiKey: string;
  apiSecret: string;
  address: string;
}

export class AuthService {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly tokens: AccessTokens,
    private readonly throttle: LoginThrottle,
  ) {}

  /**
   * An access token for an API key and its secret.
   * @throws GatewayError invalid_credentials (the same for an unknown key and a wrong secret), rate_limited.
   */
  async login({ apiKey, apiSecret, address }: LoginRequest): Promise<string> {
    await this.throttle.assertAllowed(address);
    const wellFormed = /^[!-~]+$/.test(apiKey) && apiKey.length <= maxCredentialLength && apiSecret.length <= maxCredentialLength;
    const credential = wellFormed ? await this.credentials.findByApiKey(apiKey) : null;
    const matches = timingSafeEqual(hashSecret(apiSecret), credential?.secretHash ?? nobodysHash);
    if (credential && matches) return this.tokens.issue(credential);
    await this.throttle.countFailure(address, apiKey);
    throw new GatewayError('invalid_credentials', 'The API key or the API secret is wrong');
  }
}
