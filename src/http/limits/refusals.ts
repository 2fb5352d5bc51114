import { Counter } from 'prom-client';
import { GatewayError } from '../../platform/errors';
import { metrics } from '../../platform/metrics';

const reasons = ['address', 'client', 'token', 'mfa', 'login', 'client_in_flight', 'process_in_flight'] as const;
type Reason = (typeof reasons)[number];

const refusals = new Counter({
  name: 'gateway_http_requests_refused_total',
  help: 'Requests refused by a limit, by limit',
  labelNames: ['reason'] as const,
  registers: [metrics],
});

// a series that begins with its first event shows no increase
for (const reason of reasons) refusals.inc({ reason }, 0);

/** The error for a request beyond a limit; counts it by reason. */
export function tooMany(reason: Reason, message: string, retryAfterSeconds: number): GatewayError {
  refusals.inc({ reason });
  return new GatewayError(reason === 'process_in_flight' ? 'unavailable' : 'rate_limited', message, { retryAfterSeconds });
}
