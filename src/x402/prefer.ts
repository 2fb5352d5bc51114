import type { GatewayContext } from '../http/context';
import { documented } from '../http/route';

/** How long the client waits for the result, in milliseconds; null: not at all. usual: it does not say. */
export type Wait = { ms: number | null } | 'usual';

/** Responses are given up after 90 s, and the payment is verified before. */
const longestWaitSeconds = 70;

/** Header Prefer (RFC 7240) of requests for a settlement. */
export const preferHeader = documented(
  {
    headers: [
      {
        name: 'Prefer',
        description: `\`wait=N\`: how many seconds to wait for the result, at most ${longestWaitSeconds}; \`respond-async\`: not at all, the answer then says only that it is accepted`,
        required: false,
        schema: { type: 'string' },
      },
    ],
  },
  (_ctx, next) => next(),
);

/** What the client prefers; what is not known is ignored, as the RFC demands. Says in the response what was applied. */
export function applyPreference(ctx: GatewayContext): Wait {
  const preferences = ctx
    .get('Prefer')
    .split(',')
    .map((text) => text.trim().toLowerCase());
  const seconds = preferences.map((text) => /^wait\s*=\s*"?(\d{1,4})"?$/.exec(text)?.[1]).find((text) => text !== undefined);
  if (seconds !== undefined) {
    const applied = Math.min(Number(seconds), longestWaitSeconds);
    ctx.set('Preference-Applied', `wait=${applied}`);
    return { ms: applied * 1000 };
  }
  if (!preferences.includes('respond-async')) return 'usual';
  ctx.set('Preference-Applied', 'respond-async');
  return { ms: null };
}
