import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { GatewayContext } from './context';

/** Serves a JSON document that never changes: its bytes are made once, compressed too, and a client that has them already gets none (RFC 9110, section 13). */
export function serveDocument(document: object): (ctx: GatewayContext) => void {
  const plain = Buffer.from(JSON.stringify(document));
  const compressed = gzipSync(plain, { level: 9 });
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`;
  return (ctx) => {
    ctx.set({ ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' });
    ctx.type = 'application/json';
    if (ctx.fresh) {
      ctx.status = 304;
      return;
    }
    const gzip = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (gzip) ctx.set('Content-Encoding', 'gzip');
    ctx.body = gzip ? compressed : plain;
  };
}
