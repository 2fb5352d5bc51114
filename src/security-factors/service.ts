import type { EntityManager } from 'typeorm';
import { enabledChain } from '../accounts/service';
import { audit, type AuditAction } from '../audit/log';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import type { IdempotencyContext } from '../http/context';
import type { LimitOffset } from '../http/pagination';
import type { MfaRequest, MfaService } from '../mfa/service';
import { GatewayError } from '../platform/errors';
import { type FactorStatus, SecurityFactorEntity } from './entity';
import type { FactorFilter, NewFactor, SecurityFactorRepository } from './repository';
import type { CreateFactor } from './schema';

/** Active and inactive entries of one client. Users who add at the same moment may pass it by one each. */
const maxEntries = 10_000;

export interface SecurityFactorDependencies {
  registry: ChainRegistry;
  getFamily: GetFamily;
  mfa: MfaService;
  factors: SecurityFactorRepository;
}

/** A client's white- and blacklisted addresses. Every change takes a TOTP code and leaves an audit row in its own transaction. */
export class SecurityFactorService {
  constructor(private readonly deps: SecurityFactorDependencies) {}

  /**
   * Adds an active entry.
   * @throws GatewayError invalid_parameter (chain), invalid_address, MFA_*, rate_limited, SECURITY_FACTOR_ALREADY_EXISTS,
   *   business_error (too many entries).
   */
  async create(
    request: MfaRequest,
    { resourceId, firstAttemptAt: firstAttemptAt }: IdempotencyContext,
    input: CreateFactor,
  ): Promise<SecurityFactorEntity> {
    const { mfa, factors } = this.deps;
    const { clientId, userId } = request.caller;
    const factor: NewFactor = {
      ...this.placeOf(input),
      factorId: resourceId,
      clientId,
      factorType: input.factor_type,
      label: input.label ?? '',
      reason: input.reason ?? '',
      addedBy: userId,
    };
    // this very request, code included, got so far before; its code is used up
    const earlier = firstAttemptAt ? await factors.findEver(clientId, resourceId) : null;
    if (earlier) return earlier;
    return mfa.authorize(
      request,
      async (manager) => {
        if (!(await factors.insert(manager, factor))) throw alreadyExists(factor.chain);
        if ((await factors.count(manager, clientId)) > maxEntries)
          throw new GatewayError('business_error', `A client has at most ${maxEntries} entries: delete some first`);
        const added = await manager.findOneByOrFail(SecurityFactorEntity, { factorId: resourceId });
        await record(manager, request, 'security_factor.created', added);
        return added;
      },
      async (manager) => {
        if (await factors.hasActive(manager, factor)) throw alreadyExists(factor.chain);
      },
    );
  }

  /** Moves an entry to a status, which it may be in already. @throws GatewayError MFA_*, SECURITY_FACTOR_*. */
  setStatus(request: MfaRequest, factorId: string, status: FactorStatus): Promise<SecurityFactorEntity> {
    const { mfa, factors } = this.deps;
    return mfa.authorize(request, async (manager) => {
      const factor = await this.findLocked(manager, request, factorId);
      if (factor.status === status) return factor;
      if (!(await factors.setStatus(manager, factor.factorId, status))) throw alreadyExists(factor.chain);
      const action = status === 'active' ? 'security_factor.activated' : 'security_factor.deactivated';
      await record(manager, request, action, factor);
      return manager.findOneByOrFail(SecurityFactorEntity, { factorId: factor.factorId });
    });
  }

  /** The address can be added again. @throws GatewayError MFA_*, SECURITY_FACTOR_NOT_FOUND. */
  delete(request: MfaRequest, factorId: string): Promise<SecurityFactorEntity> {
    const { mfa, factors } = this.deps;
    return mfa.authorize(request, async (manager) => {
      const factor = await this.findLocked(manager, request, factorId);
      await factors.delete(manager, factor.factorId);
      await record(manager, request, 'security_factor.deleted', factor);
      return factor;
    });
  }

  async get(clientId: string, factorId: string): Promise<SecurityFactorEntity> {
    const factor = await this.deps.factors.find(clientId, factorId);
    if (!factor) throw factorNotFound();
    return factor;
  }

  /** @throws GatewayError invalid_parameter for a chain that is not enabled. */
  async list(clientId: string, filter: FactorFilter, slice: LimitOffset): Promise<[SecurityFactorEntity[], number]> {
    if (filter.chain !== undefined) enabledChain(this.deps.registry, filter.chain);
    return this.deps.factors.list(clientId, filter, slice);
  }

  private placeOf({ chain: name, address }: CreateFactor): Pick<NewFactor, 'chain' | 'address' | 'addressKey'> {
    const chain = enabledChain(this.deps.registry, name);
    const parsed = this.deps.getFamily(chain.family).parseAddress(address);
    if (!parsed) throw new GatewayError('invalid_address', `address is not valid on ${chain.name}`);
    return { chain: chain.name, address, addressKey: parsed.key };
  }

  private async findLocked(manager: EntityManager, { caller }: MfaRequest, factorId: string): Promise<SecurityFactorEntity> {
    const factor = await this.deps.factors.findLocked(manager, caller.clientId, factorId);
    if (!factor) throw factorNotFound();
    return factor;
  }
}

const factorNotFound = () => new GatewayError('SECURITY_FACTOR_NOT_FOUND', 'security factor not found');

const alreadyExists = (chain: string) =>
  new GatewayError('SECURITY_FACTOR_ALREADY_EXISTS', `An active entry of this type has this address on ${chain} already`);

function record(
  manager: EntityManager,
  { caller, requestId }: MfaRequest,
  action: AuditAction,
  { factorId, factorType, chain, address }: SecurityFactorEntity,
): Promise<void> {
  return audit(manager, {
    action,
    outcome: 'success',
    actor: { type: 'user', id: caller.userId },
    clientId: caller.clientId,
    subject: { type: 'security_factor', id: factorId },
    detail: { factor_type: factorType, chain, address },
    requestId,
  });
}
