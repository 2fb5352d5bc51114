import type { EntityManager } from 'typeorm';
import { type AuditAction, type AuditEvent, auditUser } from '../audit/log';
import type { IdempotencyContext } from '../http/context';
import type { LimitOffset } from '../http/pagination';
import type { MfaRequest, MfaService } from '../mfa/service';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import type { SecretBox } from '../platform/secret-box';
import { failAllPending } from './deliveries';
import type { WebhookEntity } from './entity';
import type { WebhookRepository } from './repository';
import type { CreateWebhook, RotateSecret, UpdateWebhook } from './schema';
import { newSecret, openSecret, sealSecret } from './secrets';
import { TargetRefused, type TargetGuard } from './ssrf-guard';

const endpointsPerClient = 10;
const defaultOverlapHours = 24;
const hourMs = 3_600_000;
/** Short, since the database transaction holds a lock on the user's second factor. */
const dnsTimeoutMs = 3_000;

export interface WebhookDependencies {
  webhooks: WebhookRepository;
  mfa: MfaService;
  box: SecretBox;
  targets: TargetGuard;
}

export interface WithSecret {
  webhook: WebhookEntity;
  /** Decrypted, for the only response that contains it. */
  secret: string;
}

/** Endpoints of clients. Changes need a second factor and are audited in the same database transaction. */
export class WebhookService {
  constructor(private readonly deps: WebhookDependencies) {}

  list(clientId: string, page: LimitOffset): Promise<[WebhookEntity[], number]> {
    return this.deps.webhooks.list(clientId, page);
  }

  async get(clientId: string, webhookId: string): Promise<WebhookEntity> {
    const webhook = await this.deps.webhooks.find(clientId, webhookId);
    if (!webhook) throw notFound('webhook');
    return webhook;
  }

  /** @throws GatewayError invalid_parameter for the url, business_error at the limit, and those of MFA. */
  async create(request: MfaRequest, { resourceId: webhookId }: IdempotencyContext, input: CreateWebhook): Promise<WithSecret> {
    const { clientId } = request.caller;
    const earlier = await this.deps.webhooks.find(clientId, webhookId);
    if (earlier) return this.withSecret(earlier);
    const url = this.parse(input.url);
    return this.deps.mfa.authorize(request, async (manager) => {
      await this.assertPublicTarget(url);
      if ((await this.deps.webhooks.countLocked(manager, clientId)) >= endpointsPerClient)
        throw new GatewayError('business_error', `A client has at most ${endpointsPerClient} webhooks`);
      await this.deps.webhooks.insert(manager, {
        webhookId,
        clientId,
        url: url.href,
        description: input.description ?? '',
        events: input.events ?? null,
        secret: sealSecret(this.deps.box, webhookId, newSecret()),
        secretCreatedBy: webhookId,
      });
      await auditWebhook(manager, request, 'webhook.created', webhookId, { host: url.host });
      return this.withSecret(await this.read(manager, clientId, webhookId));
    });
  }

  /** Omitted fields keep their values. @throws GatewayError not_found, invalid_parameter for the url, and those of MFA. */
  async update(
    request: MfaRequest,
    webhookId: string,
    { mfa_code: _, status, ...changes }: UpdateWebhook,
  ): Promise<WebhookEntity> {
    const url = changes.url === undefined ? undefined : this.parse(changes.url);
    const check = () => (url ? this.assertPublicTarget(url) : Promise.resolve());
    const apply = async (manager: EntityManager, webhook: WebhookEntity) => {
      const statusChanged = status !== undefined && status !== webhook.status;
      await this.deps.webhooks.update(manager, webhook, {
        ...changes,
        ...(url && { url: url.href, failingSince: null }),
        ...(statusChanged && toStatusFields(status)),
      });
      if (statusChanged && status === 'disabled') await failAllPending(manager, webhookId);
      await auditWebhook(manager, request, 'webhook.updated', webhookId, {
        fields: [...Object.keys(changes), ...(statusChanged ? ['status'] : [])].sort().join(','),
        ...(url && { host: url.host }),
        ...(statusChanged && { status }),
      });
      return this.read(manager, request.caller.clientId, webhookId);
    };
    return this.change(request, webhookId, apply, check);
  }

  /** Permanent: its secrets are deleted and its deliveries are no longer shown. */
  delete(request: MfaRequest, webhookId: string): Promise<void> {
    return this.change(request, webhookId, async (manager, webhook) => {
      await this.deps.webhooks.update(manager, webhook, {
        ...(webhook.status === 'enabled' && toStatusFields('disabled')),
        deletedAt: new Date(),
        secret: null,
        previousSecret: null,
        previousSecretUntil: null,
      });
      await failAllPending(manager, webhookId);
      await auditWebhook(manager, request, 'webhook.deleted', webhookId);
    });
  }

  /** Creates a new secret; the previous one also signs during the overlap. A secret before that is dropped immediately. */
  async rotate(
    request: MfaRequest,
    webhookId: string,
    { resourceId }: IdempotencyContext,
    { overlap_hours: overlapHours = defaultOverlapHours }: RotateSecret,
  ): Promise<WithSecret> {
    const earlier = await this.deps.webhooks.find(request.caller.clientId, webhookId);
    if (earlier?.secretCreatedBy === resourceId) return this.withSecret(earlier);
    return this.change(request, webhookId, async (manager, webhook) => {
      await this.deps.webhooks.update(manager, webhook, {
        secret: sealSecret(this.deps.box, webhookId, newSecret()),
        secretCreatedBy: resourceId,
        previousSecret: overlapHours > 0 ? webhook.secret : null,
        previousSecretUntil: overlapHours > 0 ? new Date(Date.now() + overlapHours * hourMs) : null,
      });
      await auditWebhook(manager, request, 'webhook.secret_rotated', webhookId, { overlap_hours: overlapHours });
      return this.withSecret(await this.read(manager, request.caller.clientId, webhookId));
    });
  }

  private change<T>(
    request: MfaRequest,
    webhookId: string,
    work: (manager: EntityManager, webhook: WebhookEntity) => Promise<T>,
    /** Runs before the webhook is locked. */
    check: () => Promise<void> = () => Promise.resolve(),
  ): Promise<T> {
    return this.deps.mfa.authorize(request, async (manager) => {
      await check();
      const webhook = await this.deps.webhooks.findLocked(manager, request.caller.clientId, webhookId);
      if (!webhook) throw notFound('webhook');
      return work(manager, webhook);
    });
  }

  private async read(manager: EntityManager, clientId: string, webhookId: string): Promise<WebhookEntity> {
    const webhook = await this.deps.webhooks.find(clientId, webhookId, manager);
    if (!webhook) throw notFound('webhook');
    return webhook;
  }

  private withSecret(webhook: WebhookEntity): WithSecret {
    return { webhook, secret: openSecret(this.deps.box, webhook) };
  }

  /** The url in its normal form; without DNS lookup. */
  private parse(text: string): URL {
    try {
      return this.deps.targets.parse(text);
    } catch (error) {
      throw refusal(error);
    }
  }

  /** Called only after the second factor was verified, so that others cannot find out which internal names resolve. */
  private async assertPublicTarget(url: URL): Promise<void> {
    try {
      await this.deps.targets.resolveTarget(url, AbortSignal.timeout(dnsTimeoutMs));
    } catch (error) {
      throw refusal(error);
    }
  }
}

const refusal = (error: unknown): unknown => (error instanceof TargetRefused ? invalidParameter('url', error.message) : error);

const toStatusFields = (status: 'enabled' | 'disabled') =>
  status === 'enabled'
    ? ({ status, disabledReason: null, disabledAt: null, failingSince: null } as const)
    : ({ status, disabledReason: 'client', disabledAt: new Date() } as const);

const auditWebhook = (
  manager: EntityManager,
  { caller, requestId }: MfaRequest,
  action: AuditAction,
  webhookId: string,
  detail: NonNullable<AuditEvent['detail']> = {},
): Promise<void> => auditUser(manager, caller, { action, subject: { type: 'webhook', id: webhookId }, detail, requestId });
