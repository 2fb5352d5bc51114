import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { calculateJwkThumbprint, decodeProtectedHeader, exportJWK } from 'jose';
import { ClientOperations } from '../../../src/cli/client-operations';
import {
  type Answer,
  type Fixture,
  buildTenant,
  createFixture,
  expectProblem,
  privateKey,
  type Tenant,
  tokenOptions,
} from './fixture';
import { newKeyPair } from '../../keys';

/** Attacks on access tokens: each token differs from a valid one in one property, and each is answered with the same 401. */

type Json = Record<string, unknown>;
interface Craft {
  header?: Json;
  claims?: Json;
  key?: KeyObject;
}

const ours = createPrivateKey(privateKey);
const ourPublic = createPublicKey(ours);
const foreign = newKeyPair('ed25519');
const thumbprint = async (key: KeyObject) => calculateJwkThumbprint(await exportJWK(key));
const now = () => Math.floor(Date.now() / 1000);

let fixture: Fixture;
let kid: string;
/** Where a token says its key can be fetched. */
let keyServer: Server;
let keysFetched = 0;
beforeAll(async () => {
  fixture = await createFixture();
  kid = await thumbprint(ourPublic);
  keyServer = createServer((_, response) => {
    keysFetched += 1;
    void exportJWK(foreign.publicKey).then((jwk) => response.end(JSON.stringify({ keys: [{ ...jwk, kid }] })));
  }).listen(0, '127.0.0.1');
});
afterAll(async () => {
  keyServer.close();
  await fixture.close();
});

const encode = (value: Json | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const validHeader = (): Json => ({ alg: 'EdDSA', kid, typ: 'JWT' });
const validClaims = (): Json => ({
  iss: tokenOptions.issuer,
  aud: tokenOptions.audience,
  sub: fixture.demo.userId,
  client_id: fixture.demo.clientId,
  key_id: fixture.demo.keyId,
  iat: now(),
  exp: now() + 300,
});
/** `undefined` removes a field. */
const unsigned = ({ header = {}, claims = {} }: Craft) =>
  `${encode({ ...validHeader(), ...header })}.${encode({ ...validClaims(), ...claims })}`;
function craft(changes: Craft = {}): string {
  const text = unsigned(changes);
  return `${text}.${sign(null, Buffer.from(text), changes.key ?? ours).toString('base64url')}`;
}
function hmac(alg: string, secret: string | Buffer): string {
  const text = unsigned({ header: { alg } });
  return `${text}.${createHmac(alg.replace('HS', 'sha'), secret).update(text).digest('base64url')}`;
}
/** A token with one of its parts changed. */
function changed(place: 0 | 1 | 2, change: (bytes: Buffer) => Buffer | string): string {
  const parts = craft().split('.');
  parts[place] = Buffer.from(change(Buffer.from(parts[place] ?? '', 'base64url'))).toString('base64url');
  return parts.join('.');
}
const withClaims = (bytes: Buffer, claims: Json) => JSON.stringify({ ...(JSON.parse(bytes.toString()) as Json), ...claims });
/** The other form of an Ed25519 signature that careless verifiers accept: S + the order of the group. */
function otherForm(signature: Buffer): Buffer {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + order;
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()]);
}
const keyUrl = () => `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/`;

const read = (authorization: string, from: Fixture = fixture) =>
  from.call('GET', '/wallets', { tenant: null, headers: { Authorization: authorization } });
const withToken = (token: string, from?: Fixture) => read(`Bearer ${token}`, from);

/** The problem document of every refused token: it does not contain the reason. */
function expectRefused(answer: Answer): void {
  expectProblem(answer, 401, 'unauthorized');
  expect(Object.keys(answer.body).sort()).toEqual(['code', 'detail', 'instance', 'request_id', 'status', 'title', 'type']);
  expect(answer.body['detail']).toMatch(/^(The access token is invalid or has expired|An access token is required.*)$/);
  expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
}

test('each forged token below differs from a valid one in one property', async () => {
  expect((await withToken(craft())).status).toBe(200);
  // RFC 9110: the scheme's letter case does not matter
  expect((await read(`bearer ${craft()}`)).status).toBe(200);
});

describe('an attack by', () => {
  test.each<[string, () => string | Promise<string>]>([
    ...['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg): [string, () => string][] => [
      [`alg "${alg}" without signature`, () => `${unsigned({ header: { alg } })}.`],
      [`alg "${alg}" with a signature`, () => craft({ header: { alg } })],
    ]),
    ['no alg', () => craft({ header: { alg: undefined } })],
    ['alg none in two parts', () => unsigned({ header: { alg: 'none' } })],
    ['alg Ed25519, the other name of the same', () => craft({ header: { alg: 'Ed25519' } })],
    ['alg ES256', () => craft({ header: { alg: 'ES256' } })],
    ...['HS256', 'HS384', 'HS512'].flatMap((alg): [string, () => string][] => [
      [`${alg} with the public key's PEM`, () => hmac(alg, ourPublic.export({ type: 'spki', format: 'pem' }))],
      [
        `${alg} with the public key's PEM, trimmed`,
        () => hmac(alg, String(ourPublic.export({ type: 'spki', format: 'pem' })).trim()),
      ],
      [`${alg} with the public key's DER`, () => hmac(alg, ourPublic.export({ type: 'spki', format: 'der' }))],
      [
        `${alg} with the raw public key`,
        () => hmac(alg, Buffer.from(String(ourPublic.export({ format: 'jwk' }).x), 'base64url')),
      ],
      [`${alg} with an empty secret`, () => hmac(alg, '')],
    ]),
    ['a foreign key with our kid', () => craft({ key: foreign.privateKey })],
    [
      'a foreign key with its own kid',
      async () => craft({ key: foreign.privateKey, header: { kid: await thumbprint(foreign.publicKey) } }),
    ],
    ['an unknown kid', () => craft({ header: { kid: 'other' } })],
    ['no kid', () => craft({ header: { kid: undefined } })],
    ['an empty kid', () => craft({ header: { kid: '' } })],
    ['a kid that is a list', () => craft({ header: { kid: [kid] } })],
    ['a kid that is a number', () => craft({ header: { kid: 0 } })],
    ['a kid that is a path', () => craft({ key: foreign.privateKey, header: { kid: '../../../dev/null' } })],
    ['a kid that is a name of every object', () => craft({ key: foreign.privateKey, header: { kid: '__proto__' } })],
    ['a kid with SQL', () => craft({ key: foreign.privateKey, header: { kid: "' or 1=1 --" } })],
    ['an embedded jwk', async () => craft({ key: foreign.privateKey, header: { jwk: await exportJWK(foreign.publicKey) } })],
    [
      'an embedded jwk with its kid',
      async () => {
        const id = await thumbprint(foreign.publicKey);
        return craft({ key: foreign.privateKey, header: { kid: id, jwk: { ...(await exportJWK(foreign.publicKey)), kid: id } } });
      },
    ],
    [
      'an embedded x5c',
      () =>
        craft({
          key: foreign.privateKey,
          header: { x5c: [foreign.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')] },
        }),
    ],
    ['a jku', () => craft({ key: foreign.privateKey, header: { jku: keyUrl() } })],
    ['an x5u', () => craft({ key: foreign.privateKey, header: { x5u: keyUrl() } })],
    ['a crit header', () => craft({ header: { crit: ['exp'], exp: now() + 300 } })],
    ['an unknown crit header', () => craft({ header: { crit: ['x'], x: true } })],
    ['an empty crit header', () => craft({ header: { crit: [] } })],
    ['an unencoded payload', () => craft({ header: { crit: ['b64'], b64: false } })],
    ['typ at+jwt', () => craft({ header: { typ: 'at+jwt' } })],
    ['typ JOSE', () => craft({ header: { typ: 'JOSE' } })],
    ['no typ', () => craft({ header: { typ: undefined } })],
    ['an expired token', () => craft({ claims: { exp: now() - 1 } })],
    ['a token that expires now', () => craft({ claims: { exp: now() } })],
    ['no exp', () => craft({ claims: { exp: undefined } })],
    ['exp as text', () => craft({ claims: { exp: String(now() + 300) } })],
    ['exp null', () => craft({ claims: { exp: null } })],
    ['nbf in the future', () => craft({ claims: { nbf: now() + 60 } })],
    ['nbf as text', () => craft({ claims: { nbf: '0' } })],
    ['iat in the future', () => craft({ claims: { iat: now() + 60 } })],
    ['no iat', () => craft({ claims: { iat: undefined } })],
    ['iat as text', () => craft({ claims: { iat: String(now()) } })],
    ['another issuer', () => craft({ claims: { iss: 'other' } })],
    ['our issuer among others', () => craft({ claims: { iss: [tokenOptions.issuer, 'other'] } })],
    ['no issuer', () => craft({ claims: { iss: undefined } })],
    ['another audience', () => craft({ claims: { aud: 'other' } })],
    ['other audiences', () => craft({ claims: { aud: ['other', `${tokenOptions.audience}x`] } })],
    ['no audiences', () => craft({ claims: { aud: [] } })],
    ['no audience', () => craft({ claims: { aud: undefined } })],
    ['no user', () => craft({ claims: { sub: undefined } })],
    ['no client', () => craft({ claims: { client_id: undefined } })],
    ['no key', () => craft({ claims: { key_id: undefined } })],
    ['a client that is no id', () => craft({ claims: { client_id: "' or 1=1 --" } })],
    ['a client that is a list', () => craft({ claims: { client_id: [fixture.demo.clientId] } })],
    ["another client's id, signed by us", () => craft({ claims: { client_id: fixture.other.clientId } })],
    [
      "another client's id, signed by a foreign key",
      () => craft({ claims: { client_id: fixture.other.clientId }, key: foreign.privateKey }),
    ],
    ["another client's user", () => craft({ claims: { sub: fixture.other.userId } })],
    ["another client's key", () => craft({ claims: { key_id: fixture.other.keyId } })],
    ['changed claims', () => changed(1, (bytes) => withClaims(bytes, { client_id: fixture.other.clientId }))],
    ['a longer life', () => changed(1, (bytes) => withClaims(bytes, { exp: now() + 3_000_000 }))],
    ['claims that are no JSON', () => changed(1, () => 'x')],
    ['a changed header', () => changed(0, (bytes) => withClaims(bytes, { cty: 'JWT' }))],
    [
      'a signature with one bit changed',
      () => changed(2, (bytes) => Buffer.concat([Buffer.of((bytes[0] ?? 0) ^ 1), bytes.subarray(1)])),
    ],
    ['the other form of the signature', () => changed(2, otherForm)],
    ['a signature of nothing', () => changed(2, () => Buffer.alloc(64))],
    ['a token cut off', () => craft().slice(0, -2)],
    ['a token without signature', () => craft().split('.').slice(0, 2).join('.')],
    ['an empty signature', () => changed(2, () => '')],
    ['a fourth part', () => `${craft()}.x`],
    ['five parts, as of an encrypted token', () => `${craft()}.x.x`],
    ['no token at all', () => 'abc'],
    ['dots', () => '..'],
    ['a long token', () => craft({ claims: { text: 'x'.repeat(3_000) } })],
    ['a very long token', () => 'x'.repeat(12_000)],
  ])('%s', async (_, token) => {
    expectRefused(await withToken(await token()));
  });

  test('no key that a token refers to was fetched', () => expect(keysFetched).toBe(0));
});

describe('the header Authorization', () => {
  test.each([undefined, '', 'Bearer', 'Basic abc', 'Token x', 'bearer abc'])('%s', async (value) => {
    const headers: Record<string, string> = value === undefined ? {} : { Authorization: value };
    expectProblem(await fixture.call('GET', '/wallets', { tenant: null, headers }), 401, 'unauthorized');
  });

  test.each<[string, () => string]>([
    ['another scheme', () => `Basic ${craft()}`],
    ['the token alone', () => craft()],
    ['two tokens', () => `Bearer ${craft()} ${craft()}`],
    ['two credentials', () => `Bearer ${craft()}, Bearer ${craft()}`],
    ['a tab', () => `Bearer\t${craft()}`],
  ])('with %s', async (_, value) => expectRefused(await read(value())));

  test.each<[string, () => string[]]>([
    ['a valid and an invalid token', () => [`Bearer ${craft()}`, 'Bearer abc']],
    ['an invalid and a valid token', () => ['Bearer abc', `Bearer ${craft()}`]],
    ['the same token', () => Array(2).fill(`Bearer ${craft()}`) as string[]],
  ])('given twice, with %s', async (_, values) => {
    const status = await new Promise<number | undefined>((resolve, reject) =>
      request(`${fixture.base}/wallets`, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .setHeader('Authorization', values())
        .end(),
    );
    expect(status).toBe(401);
  });

  test('is checked before the rest of a request', async () => {
    for (const [method, path] of [
      ['POST', '/wallets'],
      ['POST', '/transfer'],
      ['GET', '/transactions?x=1'],
      ['GET', '/wallets/'],
      ['POST', '/transactions/x/cancel'],
    ] as const) {
      const answer = await fixture.call(method, path, { tenant: null, ...(method === 'POST' && { body: 'not json' }) });
      expectProblem(answer, 401, 'unauthorized');
    }
  });
});

describe('revocation works within 5 s', () => {
  const until401 = async ({ token }: Tenant) => {
    expect((await withToken(token)).status).toBe(200);
    return async () => {
      const begun = Date.now();
      for (;;) {
        const answer = await withToken(token);
        if (answer.status !== 200) return expectRefused(answer);
        if (Date.now() - begun > 5_000) throw new Error('still works after 5 s');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
  };
  test.each<[string, (operations: ClientOperations, tenant: Tenant) => Promise<unknown>]>([
    ['of the key', (operations, { apiKey }) => operations.revokeKey(apiKey)],
    ['of the user', (operations, { userId }) => operations.setUserStatus(userId, 'DISABLED')],
    ['of the client', (operations, { clientId }) => operations.setClientStatus(clientId, 'DISABLED')],
  ])(
    '%s, for tokens and logins',
    async (_, revoke) => {
      const tenant = await buildTenant(fixture);
      const refused = await until401(tenant);
      await revoke(new ClientOperations(fixture.database), tenant);
      const headers = { 'X-API-Key': tenant.apiKey, 'X-API-Secret': tenant.apiSecret };
      expectProblem(await fixture.call('POST', '/auth/token', { tenant: null, headers }), 401, 'invalid_credentials');
      await refused();
    },
    15_000,
  );
});

describe('rotation of the signing key', () => {
  const next = newKeyPair('ed25519');
  const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
  const before = { ...tokenOptions, publicKeys: pem(next.publicKey) };
  const after = {
    ...tokenOptions,
    privateKey: next.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeys: pem(ourPublic),
  };
  const kidOf = (token: string) => decodeProtectedHeader(token).kid;

  test('while processes sign with either key each accepts the tokens of both; the old key’s are refused once it is removed', async () => {
    const instances = await Promise.all(
      [before, after, { ...after, publicKeys: '' }].map((tokens) => createFixture({ shared: fixture, tokens })),
    );
    try {
      const [old, switched, done] = instances as [Fixture, Fixture, Fixture];
      const [{ token: oldToken }, { token: newToken }] = await Promise.all([buildTenant(old), buildTenant(switched)]);
      expect([kidOf(oldToken), kidOf(newToken)]).toEqual([kid, await thumbprint(next.publicKey)]);
      for (const token of [oldToken, newToken])
        for (const instance of [old, switched]) expect((await withToken(token, instance)).status).toBe(200);
      expectRefused(await withToken(oldToken, done));
      expect((await withToken(newToken, done)).status).toBe(200);
      // a process without the new key refuses its tokens: this is why it is added everywhere first
      expectRefused(await withToken(newToken, fixture));
      // each key verifies tokens of its own kid only
      const text = unsigned({ header: { kid: await thumbprint(next.publicKey) } });
      expectRefused(await withToken(`${text}.${sign(null, Buffer.from(text), ours).toString('base64url')}`, old));
    } finally {
      await Promise.all(instances.map((instance) => instance.close()));
    }
  });
});
