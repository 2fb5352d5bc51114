import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { GatewayContext } from './context';

/** Serves a JSON document that never changes. */
export const serveDocument = (document: object): ((ctx: GatewayContext) => void) =>
  serveBytes(Buffer.from(JSON.stringify(document)), 'application/json');

/**
 * Serves bytes that never change: they are compressed once, and a client that has them already gets none (RFC 9110, section 13).
 * @param type as Koa's ctx.type: with `; charset=utf-8` for text
 */
export function serveBytes(plain: Buffer, type: string): (ctx: GatewayContext) => void {
  const compressed = gzipSync(plain, { level: 9 });
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`;
  return (ctx) => {
    ctx.set({ ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' });
    ctx.type = type;
    if (ctx.fresh) {
      ctx.status = 304;
      return;
    }
    const gzip = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (gzip) ctx.set('Content-Encoding', 'gzip');
    ctx.body = gzip ? compressed : plain;
  };
}
