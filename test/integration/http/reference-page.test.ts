import { type Browser, chromium, type ConsoleMessage, type Page } from 'playwright-core';
import { findOnPath } from '../../../dev/binaries';
import { createFixture, type Fixture } from './fixture';

/** The page for people: what it is served with, and, where there is a browser, what is seen in it. */

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

const get = (path: string) => fetch(`${fixture.origin}${path}`, { redirect: 'manual' });

test.each(['/', '/docs', '/api/v1', '/api/v1/'])('%s points to it', async (path) => {
  const { status, headers } = await get(path);
  expect([status, headers.get('location')]).toEqual([302, '/api/v1/docs']);
});

test('its parts say their type and charset, allow nothing but this server, and are asked for again', async () => {
  const parts = [
    ['/api/v1/docs', 'text/html; charset=utf-8'],
    ['/api/v1/docs/', 'text/html; charset=utf-8'],
    ['/api/v1/docs/reference.js', 'text/javascript; charset=utf-8'],
    ['/api/v1/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ['/api/v1/docs/swagger-ui.css', 'text/css; charset=utf-8'],
    ['/api/v1/docs/favicon-32x32.png', 'image/png'],
  ] as const;
  for (const [path, type] of parts) {
    const { status, headers } = await get(path);
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, type]);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-cache', 'nosniff']);
    // fetch adds no-cache where it is not told otherwise
    const known = { 'If-None-Match': headers.get('etag') ?? '', 'Cache-Control': 'max-age=0' };
    const again = await fetch(`${fixture.origin}${path}`, { headers: known });
    expect(again.status).toBe(304);
  }
});

const executablePath = findOnPath('chromium') ?? findOnPath('google-chrome');

describe('in a browser', () => {
  if (executablePath === undefined) {
    test.skip('needs chromium on the PATH: apt-get install chromium', () => undefined);
    return;
  }
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const asked: string[] = [];
  beforeAll(async () => {
    // root, as which tests run in containers, has no sandbox
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.on('console', (message: ConsoleMessage) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${fixture.origin}/`);
    await page.getByText('Custodial wallet gateway').first().waitFor({ timeout: 60_000 });
  }, 120_000);
  afterAll(() => browser?.close());

  test('it shows every operation, and one opened with its fields and refusals', async () => {
    const documented = await fixture.call('GET', '/openapi.json', { tenant: null });
    const { paths, webhooks } = documented.body as unknown as { paths: object; webhooks: object };
    const count = Object.values(paths).flatMap((methods: object) => Object.keys(methods)).length + Object.keys(webhooks).length;
    await expect(page.locator('.opblock').count()).resolves.toBe(count);
    await page.locator('#operations-Transfers-createTransfer .opblock-summary-control').click();
    const opened = page.locator('#operations-Transfers-createTransfer');
    await opened.getByText('insufficient_balance').first().waitFor({ timeout: 30_000 });
    await expect(opened.innerText()).resolves.toMatch(/Idempotency-Key[\s\S]*token_symbol/);
  }, 60_000);

  test('it asks no other host, and nothing of it is refused by its policy', () => {
    expect(asked.filter((url) => !url.startsWith(fixture.origin) && !url.startsWith('data:'))).toEqual([]);
    expect(asked).toContain(`${fixture.origin}/api/v1/openapi.json`);
    expect(complaints).toEqual([]);
  });
});
