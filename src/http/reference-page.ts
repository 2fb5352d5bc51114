import { readFileSync } from 'node:fs';
import path from 'node:path';
import Joi from 'joi';
import type { GatewayContext } from './context';
import type { Route } from './route';
import { basePath } from './router';
import { serveBytes } from './serve-document';

const folder = `${basePath}/docs`;

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Custodial wallet gateway: API reference</title>
    <link rel="icon" type="image/png" href="${folder}/favicon-32x32.png">
    <link rel="stylesheet" href="${folder}/swagger-ui.css">
  </head>
  <body>
    <div id="reference"></div>
    <noscript>This page needs JavaScript. The reference as a document: <a href="${basePath}/openapi.json">openapi.json</a></noscript>
    <script src="${folder}/swagger-ui-bundle.js"></script>
    <script src="${folder}/reference.js"></script>
  </body>
</html>
`;

/** Otherwise Swagger UI sends the address of the document to a validator on another host. */
const validatorUrl = 'none';
const options = { url: `${basePath}/openapi.json`, dom_id: '#reference', deepLinking: true, validatorUrl, layout: 'BaseLayout' };
const start = `SwaggerUIBundle(${JSON.stringify(options)});\n`;

/** Nothing but what this server sends is loaded, run or asked; no other page can show this one in a frame. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

/** Not imported: to load the package would run the browser's code here. */
const ofSwagger = (name: string) => () =>
  readFileSync(path.join(path.dirname(require.resolve('swagger-ui-dist/package.json')), name));

/** The page that shows the OpenAPI document to people: Swagger UI, from this server alone, below the base path. */
export const referencePage: Route[] = [
  {
    ...route(
      '/docs',
      lazily(() => Buffer.from(page), 'text/html; charset=utf-8'),
    ),
    alsoAt: '/docs/',
  },
  route(
    '/docs/reference.js',
    lazily(() => Buffer.from(start), 'text/javascript; charset=utf-8'),
  ),
  route('/docs/swagger-ui-bundle.js', lazily(ofSwagger('swagger-ui-bundle.js'), 'text/javascript; charset=utf-8')),
  route('/docs/swagger-ui.css', lazily(ofSwagger('swagger-ui.css'), 'text/css; charset=utf-8')),
  route('/docs/favicon-32x32.png', lazily(ofSwagger('favicon-32x32.png'), 'image/png')),
  { ...route('', (ctx) => ctx.redirect(folder)), alsoAt: '/' },
];

/** What points to it outside of the base path. */
export const pointers: Route[] = [route('/', (ctx) => ctx.redirect(folder)), route('/docs', (ctx) => ctx.redirect(folder))];

function route(at: string, handle: (ctx: GatewayContext) => void): Route {
  const answer = { status: 200, description: '', schema: Joi.any() };
  return { method: 'get', path: at, id: null, tag: 'Operations', summary: '', middleware: [], answer, fails: [], handle };
}

/** Read and compressed for the first who asks: the script has 1.7 MB, which most processes never serve. */
function lazily(read: () => Buffer, type: string): (ctx: GatewayContext) => void {
  let serve: ((ctx: GatewayContext) => void) | undefined;
  return (ctx) => {
    serve ??= serveBytes(read(), type);
    ctx.set({ 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' });
    serve(ctx);
  };
}
