/**
 * Thread entry: runs protocol sessions in WebAssembly, away from the event loop of the process.
 *
 * Plain CommonJS, so that compiled code and tests on the TypeScript sources load the very same file. Its only client is
 * src/mpc/protocol/engine.ts, which owns the types of the messages.
 *
 * A panic in the module leaves the instance in an unknown state: it is reported as `trapped` for the session that was being processed,
 * and nothing is processed after it; the pool ends the thread.
 */
/* eslint-disable @typescript-eslint/no-require-imports -- CommonJS, loaded without a compiler */
'use strict';

const os = require('node:os');
const path = require('node:path');
const { parentPort, workerData } = require('node:worker_threads');
const { verifyModule } = require('./verify.cjs');

// before any of it is run
verifyModule(path.join(__dirname, 'wasm'));
const { KeygenSession, SignSession, FrostKeygenSession, FrostSignSession } = require('./wasm/threshold.js');

/** What the sessions throw on purpose (src/error.rs). */
const codes = new Set(['bad_message', 'aborted', 'ban']);

/** @typedef {KeygenSession | SignSession | FrostKeygenSession | FrostSignSession} AnySession */

/** @type {Map<number, AnySession>} */
const sessions = new Map();

if (workerData.niceness > 0) {
  try {
    // On Linux 0 means the calling thread, elsewhere the whole process: only there is it done.
    if (process.platform === 'linux') os.setPriority(0, workerData.niceness);
  } catch {
    // Sandboxes may forbid it; key generation then competes with signing on equal terms.
  }
}

/** @param {number} id */
function free(id) {
  const session = sessions.get(id);
  sessions.delete(id);
  session?.free();
}

/** @param {number} id */
function find(id) {
  const session = sessions.get(id);
  if (!session) throw Object.assign(new Error('session is over'), { code: 'aborted' });
  return session;
}

/** Messages to send, by recipient.
 * @param {AnySession} session
 * @returns {Map<number, Uint8Array>} */
function outgoing(session) {
  return new Map(Array.from(session.peers, (peer) => [peer, session.message(peer)]));
}

/** @param {AnySession} session */
function result(session) {
  if (session instanceof KeygenSession) {
    return { publicKey: session.publicKey, chainCode: session.chainCode, share: session.share };
  }
  // its keys have no children
  if (session instanceof FrostKeygenSession) {
    return { publicKey: session.publicKey, chainCode: new Uint8Array(0), share: session.share };
  }
  if (session instanceof FrostSignSession) return session.signature;
  const signature = session.signature;
  return { r: signature.slice(0, 32), s: signature.slice(32), recoveryId: session.recoveryId };
}

const operations = {
  keygen({ session, party, sessionId }) {
    sessions.set(session, new KeygenSession(party, sessionId));
  },
  sign({ session, sessionId, party, peer, share, path, digest }) {
    try {
      sessions.set(session, new SignSession(sessionId, party, peer, share, path, digest));
    } finally {
      share.fill(0);
    }
  },
  frostKeygen({ session, party, sessionId }) {
    sessions.set(session, new FrostKeygenSession(party, sessionId));
  },
  frostSign({ session, sessionId, party, peer, share, message }) {
    try {
      sessions.set(session, new FrostSignSession(sessionId, party, peer, share, message));
    } finally {
      share.fill(0);
    }
  },
  start({ session }) {
    const running = find(session);
    running.start();
    return { messages: outgoing(running) };
  },
  next({ session, incoming }) {
    const running = find(session);
    for (const [from, message] of incoming) {
      running.receive(from, message);
      // Some of key generation are secret.
      message.fill(0);
    }
    if (!running.advance()) return { messages: outgoing(running) };
    const value = result(running);
    free(session);
    return { result: value };
  },
  close({ session }) {
    free(session);
  },
};

let hasTrapped = false;

parentPort.on('message', (request) => {
  if (hasTrapped) return;
  try {
    const value = operations[request.operation](request);
    // Moved, not copied: a copy of the share would stay behind in this thread.
    const share = value?.result?.share;
    parentPort.postMessage({ id: request.id, value }, share ? [share.buffer] : []);
  } catch (error) {
    if (!codes.has(error?.code)) {
      hasTrapped = true;
      parentPort.postMessage({ id: request.id, error: { code: 'trapped', message: String(error?.message ?? error) } });
      return;
    }
    free(request.session);
    parentPort.postMessage({ id: request.id, error: { code: error.code, culprit: error.culprit, message: error.message } });
  }
});
