import Joi from 'joi';
import { register } from 'prom-client';
import { answerProblem, toProblem } from '../http/errors';
import type { Route } from '../http/route';
import { GatewayError } from '../platform/errors';
import { aliveView, readyView } from './schema';
import type { HealthService } from './service';

const tag = 'Operations';

/** Health and metrics: no token, mounted with and without the base path. */
export function healthRoutes({ health }: { health: HealthService }): Route[] {
  return [
    {
      method: 'get',
      path: '/health/live',
      id: 'getLive',
      tag,
      summary: 'Whether the process is running',
      middleware: [],
      answer: { status: 200, description: 'The process is running', schema: aliveView },
      fails: [],
      handle: (ctx) => {
        ctx.body = { status: 'ok' };
      },
    },
    {
      method: 'get',
      path: '/health/ready',
      id: 'getReady',
      tag,
      summary: 'Whether the database, Temporal, two signing nodes and every chain are available',
      middleware: [],
      answer: { status: 200, description: 'All are available', schema: readyView },
      fails: ['unavailable'],
      handle: async (ctx) => {
        const checks = await health.ready();
        const missing = Object.keys(checks).filter((name) => !checks[name]);
        if (missing.length === 0) {
          ctx.body = { status: 'ok', checks };
          return;
        }
        const error = new GatewayError('unavailable', `Not ready: ${missing.join(', ')}`);
        answerProblem(ctx, error);
        ctx.body = JSON.stringify({ ...toProblem(error, ctx), checks });
      },
    },
    {
      method: 'get',
      path: '/metrics',
      id: 'getMetrics',
      tag,
      summary: 'Metrics in the Prometheus text format',
      middleware: [],
      answer: { status: 200, description: 'Metrics', schema: Joi.string(), mediaType: 'text/plain' },
      fails: [],
      handle: async (ctx) => {
        ctx.body = await register.metrics();
        ctx.type = register.contentType;
      },
    },
  ];
}
