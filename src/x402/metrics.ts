import { Counter, Histogram } from 'prom-client';
import { metrics } from '../platform/metrics';

export const verifications = new Counter({
  name: 'gateway_x402_verifications_total',
  help: 'Verdicts on payments; reason: valid, or as answered; scheme and method: unknown where the body states none',
  labelNames: ['scheme', 'method', 'reason'] as const,
  registers: [metrics],
});

export const verificationDuration = new Histogram({
  name: 'gateway_x402_verification_duration_seconds',
  help: 'Duration of verdicts on payments, the request to the chain included',
  labelNames: ['verdict'] as const,
  buckets: [0.001, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [metrics],
});

for (const verdict of ['valid', 'invalid']) verificationDuration.zero({ verdict });

export const settlements = new Counter({
  name: 'gateway_x402_settlements_total',
  help: 'Answers to requests for a settlement; reason: settled, or as answered; scheme and method: unknown where the body states none',
  labelNames: ['scheme', 'method', 'reason'] as const,
  registers: [metrics],
});

export const settlementDuration = new Histogram({
  name: 'gateway_x402_settlement_duration_seconds',
  help: 'Duration of requests for a settlement, the wait for the chain included',
  labelNames: ['outcome'] as const,
  buckets: [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10, 20, 40, 60],
  registers: [metrics],
});
