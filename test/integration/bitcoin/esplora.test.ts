import { ConfigError } from '../../../src/platform/config';
import { BitcoinChainClient } from '../../../src/chains/bitcoin/client';
import type { KnownAttempt } from '../../../src/chains/chain-client';
import { bitcoinCodec, buildBitcoin, coin, localBitcoin, signDigests } from '../../bitcoin';
import { describeWithBtcd } from '../../stack/btcd';
import { startEsplora } from './esplora-server';
import { type BitcoinFixture, createBitcoinFixture } from './fixture';

const nothing = () => Promise.resolve(new Set<string>());

const noOrigins = () => Promise.resolve([]);

describeWithBtcd('over Esplora the client of a Bitcoin chain', () => {
  let fixture: BitcoinFixture;
  const closed: (() => void)[] = [];
  beforeAll(async () => {
    fixture = await createBitcoinFixture();
  }, 60_000);
  afterAll(async () => {
    for (const close of closed) close();
    await fixture.close();
  });
  const asking = async (changes: Parameters<typeof startEsplora>[1] = {}) => {
    const server = await startEsplora(fixture.btcd.url, changes);
    closed.push(server.close);
    return new BitcoinChainClient(localBitcoin(), [server.url]);
  };

  test('checks the genesis block', async () => {
    await (await asking()).verifyIdentity();
    const other = await asking({ '/block-height/0': () => ({ body: 'ab'.repeat(32) }) });
    await expect(other.verifyIdentity()).rejects.toBeInstanceOf(ConfigError);
  });

  test('sees head, blocks, deposits and rates as over JSON-RPC', async () => {
    const { client, node, alice } = fixture;
    await node.fund(alice.address, 70_000n);
    const esplora = await asking();
    const { number } = await client.head();
    expect(await esplora.head()).toEqual({ number });
    expect(await esplora.block(number)).toEqual(await client.block(number));
    expect(await esplora.block(number + 1)).toBeNull();
    const isOurs = (keys: string[]) => Promise.resolve(new Set(keys.filter((key) => key === alice.addressKey)));
    const scanned = await esplora.scan(number - 2, number + 2, isOurs);
    expect(scanned).toEqual(await client.scan(number - 2, number + 2, isOurs));
    expect(scanned.blocks.flatMap(({ deposits }) => deposits)).toMatchObject([{ amount: 70_000n }]);
    expect(await esplora.feeLevels()).toEqual({ rate: '13' });
  });

  test('sends a transfer, again as often as it likes, and finds it in the pool and in a block', async () => {
    const { alice, wallet, outputs, fund, mine, outside, chain } = fixture;
    await fund(alice, [90_000n]);
    const { resource, amount } = (await outputs(alice))[0] as { resource: string; amount: string };
    const unsigned = buildBitcoin({
      ...{ kind: 'first' as const, from: alice.address, fee: 1_000n },
      ...{ payments: [{ to: outside, amount: 20_000n }], coins: [{ resource, amount: BigInt(amount) }] },
    });
    const { privateKey } = wallet.key.derive(alice.derivationPath);
    const digests = bitcoinCodec.signingPayloads(unsigned, alice.address).map(({ digest }) => digest);
    const { id, bytes } = bitcoinCodec.assemble(unsigned, signDigests(digests, privateKey as Uint8Array), alice.address);
    const intent = { from: alice.address, outputs: [{ recipient: outside, tokenContract: null, amount: 20_000n }] };
    const attempt = {
      attempt: 1,
      kind: 'first',
      intent,
      unsigned,
      messageKey: id,
      ids: [id],
      expiry: null,
    } as unknown as KnownAttempt;
    const esplora = await asking();
    expect(await esplora.status([attempt], [], noOrigins)).toEqual([{ attempt: 1, state: 'absent' }]);
    expect(await esplora.broadcast(bytes)).toEqual({ outcome: 'accepted' });
    expect(await esplora.broadcast(bytes)).toEqual({ outcome: 'accepted' });
    expect(await esplora.status([attempt], [], noOrigins)).toEqual([{ attempt: 1, state: 'pending', id }]);
    // what is in no block is neither spent nor made, although servers show what the pool spends
    const [spent, vout] = resource.split(':');
    const inPool = () => ({ body: JSON.stringify({ spent: true, txid: id, status: { confirmed: false } }) });
    expect([...(await (await asking({ [`/tx/${spent}/outspend/${vout}`]: inPool })).unspent([resource]))]).toEqual([resource]);
    const outputsNow = async () =>
      Promise.all([esplora, fixture.client].map(async (it) => [...(await it.unspent([resource, `${id}:0`, `${id}:1`]))]));
    expect(await outputsNow()).toEqual([[resource], [resource]]);
    await mine(chain.confirmations);
    expect(await outputsNow()).toEqual([
      [`${id}:0`, `${id}:1`],
      [`${id}:0`, `${id}:1`],
    ]);
    const effect = { success: true, fee: 1_000n, debited: 20_000n, received: 20_000n };
    expect(await esplora.status([attempt], [], noOrigins)).toMatchObject([
      { state: 'included', id, depth: chain.confirmations, effect },
    ]);
    expect((await esplora.effects([{ id, intent, unsigned }])).get(id)).toMatchObject(effect);
    expect(await esplora.broadcast(bytes)).toEqual({ outcome: 'accepted' });
    const usedBy = { reservationId: '1', owner: alice.addressKey, resource, ordinal: null, usedBy: id, isInBlock: true };
    const other = buildBitcoin({
      ...{ kind: 'first', from: alice.address, fee: 2_000n },
      payments: [],
      coins: [{ resource, amount: BigInt(amount) }],
    });
    const rival = { ...attempt, unsigned: other, messageKey: bitcoinCodec.messageKey(other, alice.address), ids: [] };
    expect(await esplora.status([rival], [usedBy], noOrigins)).toEqual([{ attempt: 1, state: 'absent' }]);
    await mine(chain.finalityDepth);
    expect(await esplora.status([rival], [usedBy], noOrigins)).toMatchObject([{ state: 'impossible', proof: { used_by: id } }]);
  });

  test('says why a transaction is refused in words of our own; an outage says nothing', async () => {
    const { alice, wallet, outside } = fixture;
    const unsigned = buildBitcoin({
      ...{ kind: 'first', from: alice.address, fee: 1_000n },
      ...{ payments: [{ to: outside, amount: 20_000n }], coins: [coin(3, 50_000n)] },
    });
    const { privateKey } = wallet.key.derive(alice.derivationPath);
    const digests = bitcoinCodec.signingPayloads(unsigned, alice.address).map(({ digest }) => digest);
    const { bytes } = bitcoinCodec.assemble(unsigned, signDigests(digests, privateKey as Uint8Array), alice.address);
    const missing = { outcome: 'waiting', reason: 'an input is spent or unknown', passing: 'view' };
    expect(await (await asking()).broadcast(bytes)).toEqual(missing);
    const down = await asking({ '/tx': () => ({ status: 502, body: '<html>' }) });
    await expect(down.broadcast(bytes)).rejects.toMatchObject({ code: 'chain_unavailable' });
    const odd = await asking({ '/tx': () => ({ status: 400, body: 'too many requests' }) });
    await expect(odd.broadcast(bytes)).rejects.toMatchObject({ code: 'chain_unavailable' });
    const other = await asking({ '/tx': () => ({ body: 'ab'.repeat(32) }) });
    expect(await other.broadcast(bytes)).toMatchObject({ outcome: 'waiting', passing: 'unknown' });
    const body = 'sendrawtransaction RPC error: {"code":-28,"message":"Loading block index"}';
    const starting = await asking({ '/tx': () => ({ status: 400, body }) });
    expect(await starting.broadcast(bytes)).toEqual({
      ...{ outcome: 'waiting', reason: 'refused by the node (code -28): Loading block index', passing: 'unknown' },
    });
    const proxy = await asking({ '/tx': () => ({ status: 503, body: '{"code":-28,"message":"away"}' }) });
    await expect(proxy.broadcast(bytes)).rejects.toMatchObject({ code: 'chain_unavailable' });
    const silent = await asking({ '/blocks/tip/height': () => ({ status: 500, body: '' }) });
    await expect(silent.head()).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  test.each([
    ['/blocks/tip/height', ''],
    ['/blocks/tip/height', '<html>'],
    ['/block-height/1', ''],
    ['/block-height/1', '<html>'],
  ])('%s: what is no answer fails (%j)', async (path, body) => {
    const odd = await asking({ [path]: () => ({ body }) });
    await expect(path.endsWith('1') ? odd.block(1) : odd.head()).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  test('has no user and no password in its url', () => {
    const create = () => new BitcoinChainClient(localBitcoin(), [fixture.btcd.url, 'https://user:secret@127.0.0.1/api#esplora']);
    expect(create).toThrow(ConfigError);
    expect(create).toThrow(/^CHAIN_BITCOIN_RPC_URLS entry 2 has a user or a password/);
    expect(create).not.toThrow(/secret/);
  });

  test('a block has a minute to arrive, and everything else 10 seconds', async () => {
    const [signals, timers] = [jest.spyOn(AbortSignal, 'timeout'), jest.spyOn(globalThis, 'setTimeout')];
    const given = () => [...signals.mock.calls.map(([ms]) => ms), ...timers.mock.calls.map(([, ms]) => ms)];
    const [usual, longer] = [() => given().filter((ms) => ms === 10_000), () => given().filter((ms) => ms === 60_000)];
    for (const client of [await asking(), fixture.client]) {
      signals.mockClear();
      timers.mockClear();
      await client.block(1);
      expect([usual().length > 0, longer()]).toEqual([true, []]);
      await client.scan(1, 1, nothing);
      expect(longer()).toEqual([60_000]);
    }
    signals.mockRestore();
    timers.mockRestore();
  });

  test('takes the place of a node that does not answer', async () => {
    const server = await startEsplora(fixture.btcd.url);
    closed.push(server.close);
    const client = new BitcoinChainClient(localBitcoin(), ['http://127.0.0.1:9', server.url]);
    expect((await client.scan(1, 2, nothing)).scannedTo).toBe(2);
  });
});
