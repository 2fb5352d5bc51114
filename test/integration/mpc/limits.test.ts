import { getFamily } from '../../../src/chains/families';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { NodeIndex } from '../../../src/messages/nodes';
import { houseClientId } from '../../../src/platform/house';
import { newId } from '../../../src/platform/ids';
import { digestOf } from '../../evm';
import { authorizationPlan, buildSettlement, deploymentPlan } from '../../evm-settlements';
import { Group, localRegistry } from './group';
import {
  asAttempt,
  asReissue,
  client,
  orderedTransfer,
  type OrderedTransfer,
  provesAll,
  recipient,
  stranger,
  type TransferOptions,
} from './transactions';

const usdc = localRegistry.get('ethereum').tokens.find(({ symbol }) => symbol === 'USDC')!.contract!;
/** A transfer of these tests moves 1500000. */
const limits = {
  chains: {
    ethereum: {
      maxFee: '3000000000000000',
      tokens: { [usdc]: { maxAmount: '1500000', maxPerKeyAndDay: '4500000', maxPerDay: '6000000' } },
    },
  },
};

describe('the limits of node 1', () => {
  let group: Group;
  let key: GroupKey;
  let other: GroupKey;
  let nonce = 0;

  beforeAll(async () => {
    group = await Group.create({ 1: { limits, provers: provesAll }, 2: { provers: provesAll } });
    key = await group.addKey('wallet.1');
    other = await group.addKey('wallet.2');
  }, 180_000);
  afterAll(() => group.close());

  const build = (options: TransferOptions = { symbol: 'USDC' }, by = key): OrderedTransfer =>
    orderedTransfer(by, localRegistry, { nonce: (nonce += 1), ...options });
  const sign = (request: OrderedTransfer, initiator: NodeIndex = 1, peer: NodeIndex = 2) => group.sign(request, initiator, peer);
  const restart = async (changed: object) => {
    await group.stop(1);
    await group.start(1, { limits: changed });
  };
  const refused = (reason: RegExp) => ({
    code: 'node_policy',
    message: expect.stringMatching(reason) as string,
    extra: { node: '1' },
  });

  test('refuses a token, a chain and a fee that are not allowed, as initiator and as peer; the other pair signs', async () => {
    for (const [request, reason] of [
      [build({}), /token is not allowed/],
      [build({ chain: 'base' }), /chain base is not allowed/],
    ] as const) {
      await expect(sign(request, 1, 2)).rejects.toMatchObject(refused(reason));
      await expect(sign(request, 3, 1)).rejects.toMatchObject(refused(reason));
      expect((await sign(request, 2, 3)).signatures).toHaveLength(1);
    }
  });

  test('every refusal is in the node’s own log, once and signed', async () => {
    const rows = await group.query<{ reason: string; statement: string }>(
      1,
      'select reason, statement from refusals order by reason',
    );
    expect(rows.map(({ reason }) => reason)).toEqual(['chain base is not allowed', 'the token is not allowed']);
    expect(JSON.parse(rows[0]!.statement)).toMatchObject({ node: 1, chain: 'base', amount: '1500000' });
    expect(await group.query(2, 'select from refusals')).toEqual([]);
  });

  test('sums of 24 hours: a transfer counts once, for its key and for the whole node', async () => {
    const first = build();
    await sign(first);
    // the same transfer again, by other attempts: not more money
    await sign(asAttempt(first, 2, 'replacement'), 1, 3);
    await sign(build());
    await sign(build());
    await expect(sign(build())).rejects.toMatchObject(refused(/for this key and token/));
    await expect(sign(build(), 2, 1)).rejects.toMatchObject(refused(/for this key and token/));
    await sign(build({ symbol: 'USDC' }, other));
    await expect(sign(build({ symbol: 'USDC' }, other))).rejects.toMatchObject(refused(/for this token/));
  });

  test('a reissue counts again, although the attempts before it are proven impossible: the endpoint may lie', async () => {
    const family = getFamily('evm');
    jest.replaceProperty(family, 'rules', { ...family.rules, expired: 'reissue' });
    await group.query(1, 'delete from admitted_amounts');
    const first = build();
    await sign(first);
    const second = asReissue(build(), 2, [first]);
    await sign(second);
    // a replacement of it does not
    const third = asAttempt(second, 3, 'replacement');
    await sign(third);
    const fourth = asReissue(build(), 4, [first, second, third]);
    await sign(fourth);
    await expect(sign(asReissue(build(), 5, [first, second, third, fourth]))).rejects.toMatchObject(
      refused(/for this key and token/),
    );
    jest.restoreAllMocks();
  });

  test('of many at the same moment no more pass than the sum allows', async () => {
    await group.query(1, 'delete from admitted_amounts');
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => sign(build(), 1, 2)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  test('what is older than 24 hours does not count', async () => {
    await group.query(1, `update admitted_amounts set hour = hour - interval '23 hours'`);
    await expect(sign(build())).rejects.toMatchObject({ code: 'node_policy' });
    await group.query(1, `update admitted_amounts set hour = hour - interval '2 hours'`);
    await sign(build());
  });

  describe('of fees', () => {
    /** Of a token transfer, or a cancellation, of these tests. */
    const fee = 3_000_000_000_000_000n;
    const cancel = (by = key) => build({ symbol: 'USDC', isCancellation: true }, by);
    const start = async (limited: object) => {
      await restart({ chains: { ethereum: limited } });
      await group.query(1, 'delete from admitted_amounts');
    };
    const counted = () =>
      group.query(
        1,
        `select key_id, sum(amount) as fees from admitted_amounts where token = 'fees' group by key_id order by key_id`,
      );

    test('a cancellation needs a chain that the file names, no token, and a fee that is allowed', async () => {
      await start({ maxFee: `${fee}`, tokens: {} });
      await expect(sign(build())).rejects.toMatchObject(refused(/token is not allowed/));
      await sign(cancel());
      const elsewhere = build({ chain: 'base', isCancellation: true });
      await expect(sign(elsewhere)).rejects.toMatchObject(refused(/chain base is not allowed/));
      await start({ maxFee: '1', tokens: {} });
      await expect(sign(cancel())).rejects.toMatchObject(refused(/fee is above/));
    });

    test('cancellations of transactions that nobody knows pass no more than the sums of fees, of one key and of all', async () => {
      await start({ maxFeesPerKeyAndDay: `${fee * 2n}`, maxFeesPerDay: `${fee * 3n}`, tokens: {} });
      await sign(cancel());
      await sign(cancel(), 2, 1);
      await expect(sign(cancel())).rejects.toMatchObject(refused(/network fees of 24 hours for this key/));
      await expect(sign(cancel(), 3, 1)).rejects.toMatchObject(refused(/network fees of 24 hours for this key/));
      await sign(cancel(other));
      await expect(sign(cancel(other))).rejects.toMatchObject(refused(/network fees of 24 hours on this chain/));
      expect(await counted()).toEqual([
        { key_id: '', fees: `${fee * 3n}` },
        { key_id: 'wallet.1', fees: `${fee * 2n}` },
        { key_id: 'wallet.2', fees: `${fee}` },
      ]);
    });

    test('so do transfers; all attempts of one count once, with the highest fee', async () => {
      await start({ maxFeesPerKeyAndDay: `${fee * 2n}`, tokens: { [usdc]: {} } });
      const first = build();
      await sign(first);
      await sign(asAttempt(first, 2, 'replacement'), 1, 3);
      expect(await counted()).toMatchObject([{ fees: `${fee}` }, { fees: `${fee}` }]);
      await sign(build());
      await expect(sign(build())).rejects.toMatchObject(refused(/network fees of 24 hours for this key/));
      // what is refused for its fee counts for no sum
      expect(
        await group.query(1, `select sum(amount) as sum from admitted_amounts where token = $1 and key_id = ''`, [usdc]),
      ).toEqual([{ sum: '3000000' }]);
    });

    test('of many cancellations at the same moment no more pass than the sum allows', async () => {
      await start({ maxFeesPerDay: `${fee * 3n}`, tokens: {} });
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => sign(cancel(), 1, 2)));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    });

    test('cancellations of the house count as its gas, and need it to be allowed', async () => {
      const house = await group.addKey('wallet.house', { clientId: houseClientId });
      const cancelOfHouse = () => {
        const ordered = cancel(house);
        return { ...ordered, claims: { ...ordered.claims, client_id: houseClientId } };
      };
      await start({ maxFeesPerDay: '0', tokens: { gas: { maxPerKeyAndDay: `${fee * 2n}` } } });
      await sign(cancelOfHouse());
      await sign(cancelOfHouse());
      await expect(sign(cancelOfHouse())).rejects.toMatchObject(refused(/for this key and token/));
      await start({ tokens: {} });
      await expect(sign(cancelOfHouse())).rejects.toMatchObject(refused(/what the house pays is not allowed/));
    });
  });

  test('an amount above the highest, and a denied recipient however its address is written', async () => {
    await restart({ chains: { ethereum: { tokens: { [usdc]: { maxAmount: '1499999' } } } } });
    await expect(sign(build())).rejects.toMatchObject(refused(/amount is above/));
    await restart({ chains: { ethereum: { tokens: { [usdc.toLowerCase()]: {} }, deniedAddresses: [recipient.toLowerCase()] } } });
    await expect(sign(build())).rejects.toMatchObject(refused(/recipient is denied/));
  });

  test.each<[string, object, RegExp]>([
    ['an unknown field', { chains: {}, more: 1 }, /more is not allowed/],
    ['an unknown field of a token', { chains: { ethereum: { tokens: { native: { max: '1' } } } } }, /max is not allowed/],
    ['an amount that is a number', { chains: { ethereum: { tokens: { native: { maxAmount: 1 } } } } }, /must be a string/],
    ['an unknown chain', { chains: { moon: { tokens: {} } } }, /does not serve the chain moon/],
    ['an unknown token', { chains: { ethereum: { tokens: { [recipient]: {} } } } }, /has no token/],
    ['no address', { chains: { ethereum: { tokens: {}, deniedAddresses: ['0x1'] } } }, /is no address/],
  ])('a file with %s is refused at start', (_what, file, problem) => {
    expect(() => group.readLimits(2, file)).toThrow(problem);
  });
});

describe('coins that leave the house', () => {
  let group: Group;
  let key: GroupKey;
  let nonce = 0;
  const allowed = { chains: { ethereum: { tokens: { native: {} }, houseDestinations: [recipient] } } };

  beforeAll(async () => {
    group = await Group.create({ 1: { limits: allowed }, 2: { limits: allowed } });
    key = await group.addKey('house.1', { clientId: houseClientId });
  }, 180_000);
  afterAll(() => group.close());

  /** An order of the authoriser over native coins; `changes`: of its claims. */
  const withdrawal = (changes: object = {}): OrderedTransfer => {
    const ordered = orderedTransfer(key, localRegistry, { nonce: (nonce += 1) });
    return {
      ...ordered,
      claims: { ...ordered.claims, client_id: houseClientId, kind: 'withdrawal', ...changes },
    };
  };
  const nowhere = (node: string) => ({
    code: 'node_policy',
    message: expect.stringMatching(/no destination of the house/) as string,
    extra: { node },
  });
  /** By the one that is asked, whose refusal counts. */
  const signedBy = (node: string) => ({ ...nowhere(node), extra: { node, refusal: expect.any(String) as string } });

  test('are signed by two nodes that know the destination, and by no other pair', async () => {
    expect((await group.sign(withdrawal(), 1, 2)).signatures).toHaveLength(1);
    await expect(group.sign(withdrawal(), 1, 3)).rejects.toMatchObject(nowhere('3'));
    await expect(group.sign(withdrawal(), 3, 2)).rejects.toMatchObject(signedBy('3'));
  });

  test('go nowhere else, whatever the gateway orders, and not as something else', async () => {
    const elsewhere = { chains: { ethereum: { tokens: { native: {} }, houseDestinations: [stranger] } } };
    await group.stop(1);
    await group.start(1, { limits: elsewhere });
    await expect(group.sign(withdrawal(), 1, 2)).rejects.toMatchObject(signedBy('1'));
    await expect(group.sign(withdrawal(), 2, 1)).rejects.toMatchObject(nowhere('1'));
    const transfer = { code: 'intent_mismatch', message: expect.stringMatching(/^client_id/) as string };
    await expect(group.sign(withdrawal({ kind: 'transfer' }), 1, 2)).rejects.toMatchObject(transfer);
    await expect(group.sign(withdrawal({ client_id: client }), 1, 2)).rejects.toMatchObject({ code: 'intent_mismatch' });
  });
});

describe('the wallet of a payer', () => {
  let group: Group;
  let key: GroupKey;
  let nonce = 0;
  const factory = deploymentPlan.deployment?.factory as string;
  const allowing = (walletFactories: string[]) => ({ chains: { ethereum: { tokens: { gas: {} }, walletFactories } } });

  beforeAll(async () => {
    const limits = allowing([factory]);
    group = await Group.create({
      1: { limits },
      2: { limits },
      3: { limits: { chains: { ethereum: { tokens: { gas: {} } } } } },
    });
    key = await group.addKey('house.1', { clientId: houseClientId });
  }, 180_000);
  afterAll(() => group.close());

  /** An order over a settlement, which creates the wallet before unless it is said to exist. */
  const settlement = (plan = deploymentPlan): OrderedTransfer => {
    const { claims } = orderedTransfer(key, localRegistry);
    const { from, signers } = claims;
    const unsigned = buildSettlement({ ...plan, from, accountNonce: (nonce += 1), validBefore: '4000000000' });
    const { settlement: settled, outputs, maxNetworkFee, expiresAt } = getFamily('evm').describe(unsigned);
    if (!settled || expiresAt === undefined) throw new Error('no settlement');
    const { method, payer, identity, authorised } = settled;
    return {
      unsigned,
      claims: {
        ...{ ...claims, tx_id: newId(), kind: 'settlement', client_id: houseClientId, max_fee: maxNetworkFee.toString() },
        signers: signers.map((signer) => ({ ...signer, digests: [digestOf(unsigned, from)] })),
        recipients: outputs.map(({ recipient: address, tokenContract: token, amount }) => ({
          ...{ address, token, amount: amount.toString() },
        })),
        settlement: { client_id: client, method, payer, identity, authorised: authorised.toString(), window_end: expiresAt },
      },
    };
  };
  const notAllowed = (node: string) => ({
    code: 'node_policy',
    message: expect.stringMatching(/factory of the wallet is not allowed/) as string,
    extra: { node },
  });
  const signedBy = (node: string) => ({ ...notAllowed(node), extra: { node, refusal: expect.any(String) as string } });

  test('is created by a factory that two nodes name, and by no other pair', async () => {
    expect((await group.sign(settlement(), 1, 2)).signatures).toHaveLength(1);
    await expect(group.sign(settlement(), 1, 3)).rejects.toMatchObject(notAllowed('3'));
    await expect(group.sign(settlement(), 3, 2)).rejects.toMatchObject(signedBy('3'));
    // who names no factory settles for wallets that exist
    expect((await group.sign(settlement(authorizationPlan), 1, 3)).signatures).toHaveLength(1);
  });

  test('is created by no other factory, whatever the gateway orders', async () => {
    const deployment = { factory: stranger.toLowerCase(), data: '0x1234' } as const;
    await expect(group.sign(settlement({ ...deploymentPlan, deployment }), 1, 2)).rejects.toMatchObject(signedBy('1'));
    await expect(group.sign(settlement({ ...deploymentPlan, deployment }), 2, 1)).rejects.toMatchObject(signedBy('2'));
  });
});
