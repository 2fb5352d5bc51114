import type { Route } from '../http/route';
import { GatewayError } from '../platform/errors';
import { isReady } from '../platform/metrics';
import { aliveView, readyView } from './schema';
import { decisiveChecks, type HealthService } from './service';

const tag = 'Operations';

/** Health: no token, mounted with and without the base path. Only the listener of METRICS_PORT says which check fails. */
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
      summary: 'Whether the database and the workflow service are available',
      middleware: [],
      answer: { status: 200, description: 'Both are available', schema: readyView },
      fails: ['unavailable'],
      handle: async (ctx) => {
        if (!isReady(await health.ready(), decisiveChecks)) throw new GatewayError('unavailable', 'Not ready');
        ctx.body = { status: 'ok' };
      },
    },
  ];
}
