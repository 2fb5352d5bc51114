// One signing node in a process of its own, from the compiled product: everything but Temporal, in whose place the parent's messages
// {id, activity, input} are answered {id, value} or {id, error}. The first message is its configuration, `stop` the last.
import { createRequire } from 'node:module';

const product = createRequire(new URL('../../../dist/src/processes/mpc-node.js', import.meta.url));
const { migrations } = product('../../migrations/mpc-node');
const { getFamily } = product('../chains/families');
const { loadRegistry } = product('../chains/registry');
const { Identity } = product('../mpc/identity');
const { createMpcNode } = product('../mpc/node');
const { OrderVerifier } = product('../mpc/order-verifier');
const { ShareStore } = product('../mpc/store');
const { parsePeers } = product('../mpc/transport-client');
const { createLogger } = product('../platform/logging');

const logger = createLogger('signing-node', 'fatal');
let node;

async function start({ identity, peers, port, url, kek, mark, orderKeys, deployment, chains }) {
  const store = await ShareStore.open({ url, node: identity.index, keks: [Buffer.from(kek, 'hex')], migrations });
  node = await createMpcNode({
    identity: new Identity(identity),
    peers: parsePeers(peers),
    listen: { host: '127.0.0.1', port },
    ...{ store, mark, limits: null, provers: new Map(), getFamily, logger },
    registry: loadRegistry('local', chains),
    orders: await OrderVerifier.create({ keys: orderKeys, deployment, logger }),
  });
}

const run = async ({ activity, input }) => {
  if (activity === 'start') return start(input);
  if (activity === 'isComplete') return node.journalIsComplete();
  if (activity !== 'stop') return node.activities[activity](input);
  await node.close();
  setImmediate(() => process.disconnect());
};

process.on('message', (message) => {
  run(message).then(
    (value) => process.send({ id: message.id, value }),
    (error) => process.send({ id: message.id, error: `${error.code ?? ''} ${error.message}` }),
  );
});
