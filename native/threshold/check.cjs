/**
 * Has two builds of the module generate keys and sign together, and verifies the signatures with Node's own ECDSA and Ed25519.
 * Usage: node check.cjs <directory of build A> <directory of build B>. Exits non-zero if they do not work together.
 */
/* eslint-disable @typescript-eslint/no-require-imports -- CommonJS, loaded without a compiler */
'use strict';

const { createPublicKey, createHash, randomBytes, verify, ECDH } = require('node:crypto');
const path = require('node:path');

const [a, b] = process.argv.slice(2).map((directory) => require(path.resolve(directory, 'threshold.js')));

/** Runs sessions by party to the end, passing every message on. */
function run(sessions) {
  for (const session of sessions.values()) session.start();
  for (;;) {
    for (const [to, receiver] of sessions)
      for (const from of receiver.peers) receiver.receive(from, sessions.get(from).message(to));
    const done = [...sessions.values()].map((session) => session.advance());
    if (done.every(Boolean)) return;
  }
}

const builds = new Map([
  [1, a],
  [2, b],
  [3, b],
]);
const pairs = [
  [1, 2],
  [1, 3],
  [2, 3],
];

/** Lets all three parties generate a key and each pair sign with it; `isValid(signature, message)` says what comes out. */
function check(name, Keygen, openSigning, toVerifier) {
  const sessionId = randomBytes(32);
  const parties = new Map([...builds].map(([party, build]) => [party, new build[Keygen](party, sessionId)]));
  run(parties);
  const isValid = toVerifier(parties.get(1).publicKey);
  for (const [one, other] of pairs) {
    const message = randomBytes(40);
    const signId = randomBytes(32);
    const open = (own, peer) => openSigning(builds.get(own), { signId, own, peer, share: parties.get(own).share, message });
    const sessions = new Map([
      [one, open(one, other)],
      [other, open(other, one)],
    ]);
    run(sessions);
    if (!isValid(sessions.get(one).signature, message))
      throw new Error(`${name}, parties ${one} and ${other}: the signature is not valid`);
  }
}

check(
  'ECDSA',
  'KeygenSession',
  (build, { signId, own, peer, share, message }) =>
    new build.SignSession(signId, own, peer, share, 'm', createHash('sha256').update(message).digest()),
  (publicKey) => {
    const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed');
    const x = point.subarray(1, 33).toString('base64url');
    const y = point.subarray(33).toString('base64url');
    const key = createPublicKey({ key: { kty: 'EC', crv: 'secp256k1', x, y }, format: 'jwk' });
    return (signature, message) => verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, signature);
  },
);
check(
  'Ed25519',
  'FrostKeygenSession',
  (build, { signId, own, peer, share, message }) => new build.FrostSignSession(signId, own, peer, share, message),
  (publicKey) => {
    const x = Buffer.from(publicKey).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return (signature, message) => verify(null, message, key, signature);
  },
);
console.log('ok: both builds generate keys and sign together');
