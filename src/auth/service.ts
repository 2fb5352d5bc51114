import { createHash, timingSafeEqual } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { GatewayError } from '../platform/errors';
import type { Credential, CredentialRepository } from './repository';
import type { LoginThrottle } from './throttle';
import type { AccessTokens } from './tokens';

/** Compared for unknown keys, so that both kinds of refusal take the same time. */
const dummyHash = Buffer.alloc(32);
const maxCredentialLength = 200;

export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export interface LoginRequest {
  apiKey: string;
  apiSecret: string;
  address: string;
  requestId: string;
}

type Refusal = 'unknown_key' | 'wrong_secret' | NonNullable<Credential['disabled']>;

export class AuthService {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly tokens: AccessTokens,
    private readonly throttle: LoginThrottle,
    /** For audit rows, each in a database transaction of its own. */
    private readonly manager: EntityManager,
  ) {}

  /**
   * Issues an access token for an API key and its secret.
   * @throws GatewayError invalid_credentials (the same for an unknown key and a wrong secret), rate_limited.
   */
  async login(request: LoginRequest): Promise<string> {
    const { apiKey, apiSecret, address } = request;
    await this.throttle.assertAllowed(address);
    const wellFormed = /^[!-~]+$/.test(apiKey) && apiKey.length <= maxCredentialLength && apiSecret.length <= maxCredentialLength;
    const credential = wellFormed ? await this.credentials.findByApiKey(apiKey) : null;
    const matches = timingSafeEqual(hashSecret(apiSecret), credential?.secretHash ?? dummyHash);
    if (credential && matches && credential.disabled === null) {
      await this.record(request, credential, null);
      return this.tokens.issue(credential);
    }
    // requests over the limit are refused without an audit row, so that failures cannot flood the audit log
    await this.throttle.countFailure(address, apiKey);
    await this.record(request, credential, credential ? (matches && credential.disabled) || 'wrong_secret' : 'unknown_key');
    throw new GatewayError('invalid_credentials', 'The API key or the API secret is wrong');
  }

  private record({ apiKey, address, requestId }: LoginRequest, credential: Credential | null, reason: Refusal | null) {
    // an unknown key can be a secret sent in the wrong header: only its hash is recorded, which shows repeated attempts
    const keyId = credential?.keyId ?? `sha256:${hashSecret(apiKey).toString('hex').slice(0, 16)}`;
    return audit(this.manager, {
      action: reason === null ? 'auth.token_issued' : 'auth.failed',
      outcome: reason === null ? 'success' : 'refused',
      actor: { type: 'user', id: credential?.userId ?? 'unknown' },
      clientId: credential?.clientId ?? null,
      subject: { type: 'api_key', id: keyId },
      detail: { address, ...(reason !== null && { reason }) },
      requestId,
    });
  }
}
