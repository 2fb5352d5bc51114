import type { EntityManager } from 'typeorm';
import { enabledChain } from '../accounts/service';
import { type AuditAction, auditUser } from '../audit/log';
import type { GetFamily } from '../chains/family';
import { invalidAddress } from '../chains/invalid-address';
import type { ChainRegistry } from '../chains/registry';
import type { IdempotencyContext } from '../http/context';
import type { LimitOffset } from '../http/pagination';
import type { MfaRequest, MfaService } from '../mfa/service';
import { GatewayError } from '../platform/errors';
import { type FactorStatus, SecurityFactorEntity } from './entity';
import type { FactorFilter, NewFactor, SecurityFactorRepository } from './repository';
import type { CreateFactor, NewEntry } from './schema';

/** Active and inactive entries of one client. Concurrent requests can exceed the limit by one each. */
const maxEntries = 10_000;

export interface SecurityFactorDependencies {
  registry: ChainRegistry;
  getFamily: GetFamily;
  mfa: MfaService;
  factors: SecurityFactorRepository;
}

/** A client's white- and blacklisted addresses. Every change needs a TOTP code and is audited in the same database transaction. */
export class SecurityFactorService {
  constructor(private readonly deps: SecurityFactorDependencies) {}

  /** MfaService.authorize for changes of the client's lists, which come one after another. */
  authorize<T>(
    request: MfaRequest,
    work: (manager: EntityManager) => Promise<T>,
    assertNotCarriedOut?: (manager: EntityManager) => Promise<void>,
  ): Promise<T> {
    const lockAndWork = async (manager: EntityManager): Promise<T> => {
      await lockLists(manager, request.caller.clientId);
      return work(manager);
    };
    return this.deps.mfa.authorize(request, lockAndWork, assertNotCarriedOut);
  }

  /**
   * Adds an active entry.
   * @throws GatewayError invalid_parameter (chain), invalid_address, MFA_*, rate_limited, SECURITY_FACTOR_ALREADY_EXISTS,
   *   business_error (too many entries).
   */
  async create(
    request: MfaRequest,
    { resourceId, firstAttemptAt }: IdempotencyContext,
    input: CreateFactor,
  ): Promise<SecurityFactorEntity> {
    const { factors } = this.deps;
    const { clientId } = request.caller;
    const factor = this.newFactor(request, resourceId, input);
    // an earlier attempt of the same request has added the entry; its code is used up
    const earlier = firstAttemptAt ? await factors.findIncludingDeleted(clientId, resourceId) : null;
    if (earlier) return earlier;
    return this.authorize(
      request,
      (manager) => this.insert(manager, request, factor),
      async (manager) => {
        if (await factors.hasActive(manager, factor)) throw alreadyExists(factor.chain);
      },
    );
  }

  /** The same as `create` within a database transaction that a code has authorised. @throws GatewayError as it, but for the code. */
  addWithin(manager: EntityManager, request: MfaRequest, factorId: string, input: NewEntry): Promise<SecurityFactorEntity> {
    return this.insert(manager, request, this.newFactor(request, factorId, input));
  }

  /** The first of these whose address an active entry has; what is no address is listed nowhere. */
  async findListed(manager: EntityManager, request: MfaRequest, inputs: NewEntry[]): Promise<NewFactor | null> {
    for (const input of inputs) {
      const factor = this.tryNewFactor(request, input);
      if (factor && (await this.deps.factors.hasActive(manager, factor))) return factor;
    }
    return null;
  }

  private tryNewFactor(request: MfaRequest, input: NewEntry): NewFactor | null {
    try {
      return this.newFactor(request, '', input);
    } catch (error) {
      if (error instanceof GatewayError) return null;
      throw error;
    }
  }

  private async insert(manager: EntityManager, request: MfaRequest, factor: NewFactor): Promise<SecurityFactorEntity> {
    const { factors } = this.deps;
    if (!(await factors.insert(manager, factor))) throw alreadyExists(factor.chain);
    if ((await factors.count(manager, factor.clientId)) > maxEntries)
      throw new GatewayError('business_error', `A client has at most ${maxEntries} entries: delete some first`);
    const added = await manager.findOneByOrFail(SecurityFactorEntity, { factorId: factor.factorId });
    await auditFactor(manager, request, 'security_factor.created', added);
    return added;
  }

  /** Sets the status of an entry; no effect when it has that status. @throws GatewayError MFA_*, SECURITY_FACTOR_*. */
  setStatus(request: MfaRequest, factorId: string, status: FactorStatus): Promise<SecurityFactorEntity> {
    const { factors } = this.deps;
    return this.authorize(request, async (manager) => {
      const factor = await this.findLocked(manager, request, factorId);
      if (factor.status === status) return factor;
      if (!(await factors.setStatus(manager, factor.factorId, status))) throw alreadyExists(factor.chain);
      const action = status === 'active' ? 'security_factor.activated' : 'security_factor.deactivated';
      await auditFactor(manager, request, action, factor);
      return manager.findOneByOrFail(SecurityFactorEntity, { factorId: factor.factorId });
    });
  }

  /** The address can be added again. @throws GatewayError MFA_*, SECURITY_FACTOR_NOT_FOUND. */
  delete(request: MfaRequest, factorId: string): Promise<SecurityFactorEntity> {
    return this.authorize(request, (manager) => this.removeWithin(manager, request, factorId));
  }

  /** The same within a database transaction that a code has authorised. @throws GatewayError SECURITY_FACTOR_NOT_FOUND. */
  async removeWithin(manager: EntityManager, request: MfaRequest, factorId: string): Promise<SecurityFactorEntity> {
    const factor = await this.findLocked(manager, request, factorId);
    await this.deps.factors.delete(manager, factor.factorId);
    await auditFactor(manager, request, 'security_factor.deleted', factor);
    return factor;
  }

  async get(clientId: string, factorId: string): Promise<SecurityFactorEntity> {
    const factor = await this.deps.factors.find(clientId, factorId);
    if (!factor) throw factorNotFound();
    return factor;
  }

  /** @throws GatewayError invalid_parameter for a chain that is not enabled. */
  async list(clientId: string, filter: FactorFilter, page: LimitOffset): Promise<[SecurityFactorEntity[], number]> {
    if (filter.chain !== undefined) enabledChain(this.deps.registry, filter.chain);
    return this.deps.factors.list(clientId, filter, page);
  }

  private newFactor({ caller }: MfaRequest, factorId: string, input: NewEntry): NewFactor {
    return {
      ...this.parseDestination(input),
      factorId,
      clientId: caller.clientId,
      factorType: input.factor_type,
      label: input.label ?? '',
      reason: input.reason ?? '',
      addedBy: caller.userId,
    };
  }

  private parseDestination({ chain: name, address }: NewEntry): Pick<NewFactor, 'chain' | 'address' | 'addressKey'> {
    const chain = enabledChain(this.deps.registry, name);
    const family = this.deps.getFamily(chain.family);
    const parsed = family.parseAddress(address);
    if (!parsed) throw invalidAddress('address', address, chain, family);
    return { chain: chain.name, address, addressKey: parsed.key };
  }

  private async findLocked(manager: EntityManager, { caller }: MfaRequest, factorId: string): Promise<SecurityFactorEntity> {
    const factor = await this.deps.factors.findLocked(manager, caller.clientId, factorId);
    if (!factor) throw factorNotFound();
    return factor;
  }
}

/**
 * The changes of a client's lists come one after another: a batch would otherwise wait for the entry of a single change, and that one for the version of
 * the blacklist, which the batch has raised.
 */
async function lockLists(manager: EntityManager, clientId: string): Promise<void> {
  await manager.query(`select pg_advisory_xact_lock(hashtextextended('security_factors ' || $1, 0))`, [clientId]);
}

const factorNotFound = () => new GatewayError('SECURITY_FACTOR_NOT_FOUND', 'security factor not found');

export const alreadyExists = (chain: string) =>
  new GatewayError('SECURITY_FACTOR_ALREADY_EXISTS', `An active entry of this type already has this address on ${chain}`);

function auditFactor(
  manager: EntityManager,
  { caller, requestId }: MfaRequest,
  action: AuditAction,
  { factorId, factorType, chain, address }: SecurityFactorEntity,
): Promise<void> {
  return auditUser(manager, caller, {
    action,
    subject: { type: 'security_factor', id: factorId },
    detail: { factor_type: factorType, chain, address },
    requestId,
  });
}
