import type { AccountEntity } from '../../../src/accounts/entity';
import { OwnAddresses } from '../../../src/accounts/own-addresses';
import { getFamily } from '../../../src/chains/families';
import { AttestedKeys } from '../../../src/wallets/attested-keys';
import { type AttemptDependencies, deliverNext } from '../../../src/webhooks/attempt';
import type { DispatchSteps, StartDelivery } from '../../../src/webhooks/dispatcher';
import { EndpointConcurrency } from '../../../src/webhooks/endpoint-concurrency';
import { sendLimits } from '../../../src/webhooks/http-client';
import { createTargetGuard } from '../../../src/webhooks/ssrf-guard';
import { buildTotp, buildTransferRequest, totpCode } from '../../factories';
import { type Answer, type Fixture, boxes, buildTenant, createFixture, ethereum, type Tenant } from '../http/fixture';
import { nodeKeys } from '../../node-refusals';
import { type Receiver, startReceiver } from './receiver';

export interface Endpoint {
  webhookId: string;
  secret: string;
}

export interface DeliveryState {
  delivery_id: string;
  webhook_id: string;
  event_id: string;
  subject_id: string;
  kind: string;
  status: string;
  attempts: number;
}

export interface WebhookFixture extends Fixture {
  receiver: Receiver;
  /** A client whose user has a second factor. */
  newTenant(): Promise<Tenant>;
  /** Requests with a second factor, any number of times: each gets a new factor. */
  act(tenant: Tenant, method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  endpoint(tenant: Tenant, body?: object): Promise<Endpoint>;
  /** Two events; returns the transfer's id. */
  cancelledTransfer(account: AccountEntity): Promise<string>;
  deliveries(webhookId: string): Promise<DeliveryState[]>;
  /** Makes the due attempts of one endpoint, stream by stream, until none is due. */
  deliver(webhookId: string, options?: { retrySchedule?: number[]; totalMs?: number }): Promise<void>;
  /** What attempts are made with. */
  attempts(changed?: Partial<AttemptDependencies>): AttemptDependencies;
  /** Moves the times of deliveries and endpoints back by this much. */
  pass(seconds: number): Promise<void>;
}

/** Of a dispatcher that makes no attempts. */
export const handingOver = (startDelivery: StartDelivery): DispatchSteps => ({
  firstAttempts: () => Promise.resolve('workflow'),
  startDelivery,
});

export async function createWebhookFixture(): Promise<WebhookFixture> {
  const [fixture, receiver] = await Promise.all([createFixture(), startReceiver()]);
  const { database } = fixture;
  const concurrency = new EndpointConcurrency({ permits: 8, maxWaiting: 8, maxWaitMs: 2_000 });
  const keys = new AttestedKeys(nodeKeys, fixture.log);
  const attested = { keys, addresses: new OwnAddresses(keys, getFamily, fixture.log) };

  const act: WebhookFixture['act'] = async (tenant, method, path, body = {}, headers = {}) => {
    await database.query(`delete from user_totp where user_id = $1`, [tenant.userId]);
    const secret = await buildTotp(database, boxes.totp, tenant);
    return fixture.call(method, path, { tenant, body: { ...body, mfa_code: totpCode(secret) }, headers });
  };
  const deliveries: WebhookFixture['deliveries'] = (webhookId) =>
    database.query(
      `select d.delivery_id, d.webhook_id, d.event_id, d.subject_id, e.kind, d.status, d.attempts
         from webhook_deliveries d join webhook_events e using (event_id) where d.webhook_id = $1 order by d.position`,
      [webhookId],
    );
  const attempts: WebhookFixture['attempts'] = (changed = {}) => ({
    ...{ database, attested, concurrency, box: boxes.webhooks, targets: createTargetGuard('local') },
    retrySchedule: [5, 300, 1800],
    ...changed,
  });
  return {
    ...fixture,
    receiver,
    attempts,
    act,
    deliveries,
    newTenant: () => buildTenant(fixture),
    cancelledTransfer: async (account) => {
      const request = buildTransferRequest(account, ethereum, { tokenSymbol: 'USDC' });
      const { txId } = await fixture.workflows.ledger.lockTransfer(request);
      await fixture.workflows.ledger.cancelTransfer({ txId });
      return txId;
    },
    endpoint: async (tenant, body = {}) => {
      const answer = await act(tenant, 'POST', '/webhooks', { url: receiver.url, ...body });
      if (answer.status !== 201) throw new Error(`POST /webhooks answered ${answer.status}: ${answer.text}`);
      return { webhookId: String(answer.body['webhook_id']), secret: String(answer.body['secret']) };
    },
    deliver: async (webhookId, { retrySchedule = [5, 300, 1800], totalMs = sendLimits.totalMs } = {}) => {
      const deps = attempts({ retrySchedule, limits: { connectMs: totalMs, totalMs } });
      const subjects = new Set((await deliveries(webhookId)).map(({ subject_id }) => subject_id));
      for (const subjectId of subjects) {
        for (let step = 0, waitMs: number | null = 0; waitMs === 0; step += 1) {
          if (step > 50) throw new Error('attempts without end');
          ({ waitMs } = await deliverNext(deps, { webhookId, subjectId, busyTimes: 0 }));
        }
      }
    },
    pass: async (seconds) => {
      await database.query(
        `update webhook_deliveries set next_attempt_at = next_attempt_at - make_interval(secs => $1) where next_attempt_at is not null`,
        [seconds],
      );
      await database.query(`update webhook_endpoints set failing_since = failing_since - make_interval(secs => $1)`, [seconds]);
    },
    close: async () => {
      await receiver.close();
      await fixture.close();
    },
  };
}
