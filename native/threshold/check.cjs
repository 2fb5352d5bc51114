/**
 * Has two builds of the module generate a key and sign together, and verifies the signatures with Node's own ECDSA.
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
const sessionId = randomBytes(32);
const parties = new Map([...builds].map(([party, build]) => [party, new build.KeygenSession(party, sessionId)]));
run(parties);
const point = ECDH.convertKey(parties.get(1).publicKey, 'secp256k1', undefined, undefined, 'uncompressed');
const publicKey = createPublicKey({
  key: {
    kty: 'EC',
    crv: 'secp256k1',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  },
  format: 'jwk',
});

for (const [one, other] of [
  [1, 2],
  [1, 3],
  [2, 3],
]) {
  const message = randomBytes(40);
  const digest = createHash('sha256').update(message).digest();
  const signId = randomBytes(32);
  const open = (own, peer) => new (builds.get(own).SignSession)(signId, own, peer, parties.get(own).share, 'm', digest);
  const sessions = new Map([
    [one, open(one, other)],
    [other, open(other, one)],
  ]);
  run(sessions);
  const signature = sessions.get(one).signature;
  if (!verify('sha256', message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)) {
    throw new Error(`parties ${one} and ${other}: the signature is not valid`);
  }
}
console.log('ok: both builds generate a key and sign together');
