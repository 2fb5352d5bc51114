import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { shellBlocks } from './shell-blocks';

/** The functions of README.md's first transfer, on a server that answers as the API does: without an end of line. */

let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/refused') response.writeHead(409);
    response.end(JSON.stringify(request.url === '/auth/token' ? { token: 'short' } : { wallet_id: 'w1', url: request.url }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());

const [block] = shellBlocks('README.md').filter(({ section, who }) => section === 'The first transfer' && who === '');
const [functions = ''] = block?.code.split(/^# a wallet/m) ?? [];
const run = async (code: string) => {
  const variables = `base=http://127.0.0.1:${(server.address() as AddressInfo).port} key=one secret=two`;
  return await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', [variables, functions, code].join('\n')]);
};

it('each answer to a post is a line, also when another command reads it', async () => {
  const { stdout } = await run(
    `post /assets '{}'\npost /transfer/estimate '{}'\npost /wallets '{}' | field wallet_id\necho "$token"`,
  );
  const [asset, estimate] = ['/assets', '/transfer/estimate'].map((url) => JSON.stringify({ wallet_id: 'w1', url }));
  expect(stdout).toBe([asset, estimate, 'w1', 'short', ''].join('\n'));
});

it('a refusal is a line too, and ends with the exit code of curl', async () => {
  const refused = run(`post /refused '{}'`);
  await expect(refused).rejects.toMatchObject({ code: 22, stdout: '{"wallet_id":"w1","url":"/refused"}\n' });
});
