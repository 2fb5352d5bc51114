import type { NodeIndex } from '../../../src/messages/nodes';
import { getFamily, messageRegistry, orderedMessage } from '../../integration/mpc/message-chain';
import { Group, localRegistry } from '../../integration/mpc/group';
import { orderedTransfer, toRequest } from '../../integration/mpc/transactions';
import { load, round } from '../load';
import { count, ecdsa, frost, measure, measureProtocol, warmUp } from '../protocol';

/** What the workflow asks for: order, limits, journals of both nodes, network with mutual TLS. Postgres runs without fsync here. */
async function measureNodes() {
  const group = await Group.create();
  const key = await group.addKey('wallet.1');
  const requests = await Promise.all(
    Array.from({ length: warmUp + count }, (_, nonce) =>
      toRequest(orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce }), 2),
    ),
  );
  const initiator = group.node(1).activities;
  const measured = await measure((index) => initiator.signTransaction(requests[index] as (typeof requests)[number]));
  await group.close();
  return measured;
}

test('a signature of two nodes', async () => {
  const baseline = await measureProtocol(ecdsa);
  const signature = await measureNodes();
  process.stdout.write(
    `${JSON.stringify({
      bench: 'signature',
      count,
      baseline_protocol_ms: baseline,
      signature_ms: signature,
      signature_to_baseline_p50: round(signature.p50 / baseline.p50),
      signature_to_baseline_cpu: round(signature.cpu / baseline.cpu),
    })}\n`,
  );
}, 600_000);

/** One after another, and as many as there are while eight are asked for at a time by all three pairs. */
async function measureFrostNodes() {
  const options = { registry: messageRegistry, getFamily };
  const group = await Group.create({ 1: options, 2: options, 3: options });
  const accountId = '0190b5a4-0000-7000-8000-0000000000a1';
  const key = await group.generateKey(1, `${accountId}.1`, { protocol: 'frost-ed25519', accountId });
  const pairs: [NodeIndex, NodeIndex][] = [
    [1, 2],
    [2, 3],
    [3, 1],
  ];
  const ordered = Array.from({ length: 2 * (warmUp + count) + 10 }, (_, input) => orderedMessage(key, input));
  const requests = await Promise.all(ordered.map((each, at) => toRequest(each, pairs[at % 3]![1])));
  let next = 0;
  const sign = () => {
    const at = next;
    next += 1;
    return group.node(pairs[at % 3]![0]).activities.signTransaction(requests[at] as (typeof requests)[number]);
  };
  const measured = await measure(sign);
  const loaded = await load(warmUp + count, 8, sign);
  await group.close();
  return { measured, loaded };
}

test('an Ed25519 signature of two nodes', async () => {
  const baseline = await measureProtocol(frost);
  const { measured, loaded } = await measureFrostNodes();
  process.stdout.write(
    `${JSON.stringify({
      bench: 'frost_signature',
      count,
      baseline_protocol_ms: baseline,
      signature_ms: measured,
      eight_in_flight: loaded,
    })}\n`,
  );
}, 600_000);
