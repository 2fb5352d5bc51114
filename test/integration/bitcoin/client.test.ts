import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { BitcoinChainClient } from '../../../src/chains/bitcoin/client';
import { createRpcCall, NodeRefusal } from '../../../src/chains/bitcoin/rpc';
import type { ChainClient } from '../../../src/chains/chain-client';
import { ConfigError } from '../../../src/platform/config';
import { bitcoinCodec, buildBitcoin, coin, localBitcoin, signDigests } from '../../bitcoin';
import { describeWithBtcd, startTestBtcd, type TestBtcd } from '../../stack/btcd';
import { type Answers, startBitcoinProxy } from './proxy';

const refuse = (code: number, message = '') => {
  throw new NodeRefusal(code, message);
};
const methodNotFound = () => refuse(-32601, 'Method not found');
const key = Uint8Array.from(Buffer.alloc(32, 9));
const { address: from } = bitcoinCodec.address(secp256k1.getPublicKey(key, true));
const nowhere = 'http://user:secret@127.0.0.1:9';

describeWithBtcd('the client of a Bitcoin chain', () => {
  let btcd: TestBtcd;
  const closed: (() => void)[] = [];
  beforeAll(async () => {
    btcd = await startTestBtcd();
  }, 60_000);
  afterAll(async () => {
    for (const close of closed) close();
    await btcd.stop();
  });

  const through = async (answers: Answers, refusedWith?: number) => {
    const proxy = await startBitcoinProxy(btcd.url, answers, refusedWith);
    closed.push(proxy.close);
    return proxy;
  };
  const client = (...urls: string[]): ChainClient => new BitcoinChainClient(localBitcoin(), urls);
  const asking = async (answers: Answers, refusedWith?: number) => client((await through(answers, refusedWith)).url);
  const isConfigError = (text: RegExp) =>
    expect.objectContaining({ constructor: ConfigError, message: expect.stringMatching(text) });

  describe('identity', () => {
    test('of btcd, and of Bitcoin Core with an index of transactions, is taken', async () => {
      await client(btcd.url).verifyIdentity();
      const proxy = await through({ getindexinfo: () => ({ txindex: { synced: true } }) });
      await client(proxy.url).verifyIdentity();
      expect(proxy.seen[0]?.authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
    });

    test('of another chain, and of a node without that index, stops the process with a sentence', async () => {
      const other = await asking({ getblockhash: () => 'ab'.repeat(32) });
      await expect(other.verifyIdentity()).rejects.toEqual(isConfigError(/^CHAIN_BITCOIN_RPC_URLS entry 1 serves .* genesis/));
      await expect(other.head()).rejects.toMatchObject({ code: 'chain_unavailable' });
      const unindexed = await asking({ getindexinfo: () => ({}) });
      await expect(unindexed.verifyIdentity()).rejects.toEqual(isConfigError(/-txindex/));
    });
  });

  describe('whose index of transactions is not complete', () => {
    const ids = ['ab'.repeat(32)];
    const effects = (it: ChainClient) =>
      it.effects(ids.map((id) => ({ id, intent: { from, outputs: [] }, unsigned: '0x' as const })));

    test('is passed over until it is', async () => {
      let synced = false;
      const indexing = await asking({ getindexinfo: () => ({ txindex: { synced } }) });
      await indexing.verifyIdentity();
      await expect(indexing.head()).rejects.toMatchObject({ code: 'chain_unavailable' });
      synced = true;
      expect((await indexing.head()).number).toBeGreaterThan(100);
    });

    test.each([
      'No such mempool transaction. Blockchain transactions are still in the process of being indexed',
      'No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction queries',
    ])('does not say that a transaction is unknown: %s', async (message) => {
      const indexing = await asking({ getrawtransaction: () => refuse(-5, message) });
      await expect(effects(indexing)).rejects.toMatchObject({ code: 'chain_unavailable' });
      const complete = await asking({ getrawtransaction: () => refuse(-5, 'No such mempool or blockchain transaction.') });
      expect(await effects(complete)).toEqual(new Map());
    });
  });

  test('an output is unspent as long as no block spends it, and is none before a block makes it', async () => {
    const resource = `${'ab'.repeat(32)}:1`;
    const unspent = async (answer: object | null) => {
      const it = await asking({ gettxout: (_id, vout, withPool) => (vout === 1 && withPool === false ? answer : null) });
      return [...((await it.unspent?.([resource])) ?? [])];
    };
    expect(await unspent({ confirmations: 1, value: 1 })).toEqual([resource]);
    for (const answer of [{ confirmations: 0, value: 1 }, null]) expect(await unspent(answer)).toEqual([]);
  });

  test('one that does not answer is passed over, and errors name neither host nor password', async () => {
    expect((await client(nowhere, btcd.url).head()).number).toBeGreaterThan(100);
    const error = await client(nowhere)
      .head()
      .catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ code: 'chain_unavailable' });
    expect(JSON.stringify([error, (error as Error).cause, String((error as Error).cause)])).not.toMatch(/secret|127\.0\.0\.1/);
  });

  test('a work that fails at one endpoint starts anew at the next', async () => {
    let asked = 0;
    const failing = await through({
      getblock: () => {
        asked += 1;
        return refuse(-1, 'Block not available (pruned data)');
      },
    });
    const { blocks } = await client(failing.url, btcd.url).scan(1, 2, () => Promise.resolve(new Set()));
    expect([asked, blocks.map(({ number }) => number)]).toEqual([1, [1, 2]]);
    expect(blocks[1]?.parentHash).toBe(blocks[0]?.hash);
  });

  describe('what is no answer is passed over:', () => {
    const asks = { head: (it: ChainClient) => it.head(), block: (it: ChainClient) => it.block(1) };
    test.each<[string, Answers, keyof typeof asks]>([
      ['null for a height', { getblockcount: () => null }, 'head'],
      ['a text for a height', { getblockcount: () => '7' }, 'head'],
      ['a part of a block', { getblockcount: () => 1.5 }, 'head'],
      ['null for the hash of a block', { getblockhash: (number) => (number === 1 ? null : undefined) }, 'block'],
      ['an object for a hash', { getblockhash: (number) => (number === 1 ? {} : undefined) }, 'block'],
      ['a header without a height', { getblockheader: () => ({}) }, 'block'],
    ])('%s', async (_name, answers, ask) => {
      const { url } = await through(answers);
      await expect(asks[ask](client(url))).rejects.toMatchObject({ code: 'chain_unavailable' });
      expect(await asks[ask](client(url, btcd.url))).toEqual(await asks[ask](client(btcd.url)));
    });

    test.each([
      ['JSON of something else', 200, '{"status":"maintenance"}'],
      ['an array', 200, '[]'],
      ['a result with a status that says otherwise', 503, '{"result":"ab","error":null}'],
      ['an error that is none', 500, '{"result":null,"error":"overloaded"}'],
      ['no JSON', 200, 'ok'],
    ])('%s', async (_name, status, body) => {
      const server = createServer((_request, response) => response.writeHead(status).end(body));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      closed.push(() => server.close());
      const call = createRpcCall(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const error = await call('sendrawtransaction', ['00']).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(NodeRefusal);
    });
  });

  test('scans up to the head, and takes no other block than it has asked for', async () => {
    const real = client(btcd.url);
    const { number } = await real.head();
    const scanned = await real.scan(number - 1, number + 3, () => Promise.resolve(new Set()));
    expect([scanned.scannedTo, scanned.blocks.length]).toEqual([number, 2]);
    expect(await real.block(number)).toEqual({
      number,
      hash: scanned.blocks[1]?.hash,
      parentHash: scanned.blocks[0]?.hash,
    });
    expect(await real.block(number + 1)).toBeNull();
    const fourth = await real.block(4);
    const lying = await asking({ getblock: () => createRpcCall(btcd.url)('getblock', [fourth?.hash, 0]) });
    await expect(lying.scan(5, 5, () => Promise.resolve(new Set()))).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect((await lying.scan(4, 4, () => Promise.resolve(new Set()))).blocks).toHaveLength(1);
    expect(() => real.scan(1, 60, () => Promise.resolve(new Set()))).toThrow(RangeError);
  });

  describe('fee rates in whole satoshis per virtual byte', () => {
    test.each([
      ['of Bitcoin Core, rounded up', { estimatesmartfee: () => ({ feerate: 0.00012301, blocks: 3 }) }, '13'],
      [
        'of Bitcoin Core that knows none: the fallback',
        { estimatesmartfee: () => ({ errors: ['Insufficient data'], blocks: 3 }) },
        '2',
      ],
      ['of btcd', { estimatesmartfee: methodNotFound, estimatefee: () => 0.00005 }, '5'],
      ['of btcd that knows none: the fallback', { estimatesmartfee: methodNotFound, estimatefee: () => refuse(-32600) }, '2'],
      ['below one satoshi', { estimatesmartfee: () => ({ feerate: 0.0000001 }) }, '1'],
      // a transaction of usual size at the chain's highest fee
      ['the highest that is believed', { estimatesmartfee: () => ({ feerate: 0.13071 }) }, '13071'],
    ])('%s', async (_name, answers: Answers, rate) => {
      expect(await (await asking(answers)).feeLevels()).toEqual({ rate });
    });

    test('the fallback is what the registry says', async () => {
      const { url } = await through({ estimatesmartfee: () => ({ errors: ['Insufficient data'] }) });
      const changed = new BitcoinChainClient(localBitcoin({ fallbackFeeLevels: { rate: '7' } }), [url]);
      expect(await changed.feeLevels()).toEqual({ rate: '7' });
    });

    test.each([13072, 10_000_000])(
      '%d is not believed: the next endpoint is asked, and without one nothing is begun',
      async (rate) => {
        const { url } = await through({ estimatesmartfee: () => ({ feerate: rate / 1e5 }) });
        const honest = await through({ estimatesmartfee: () => ({ feerate: 0.00005 }) });
        const intent = { from, outputs: [{ recipient: from, tokenContract: null, amount: 20_000n }] };
        const prepare = (...urls: string[]) => client(...urls).prepare({ kind: 'first', intent, previous: [] });
        expect(await client(url, honest.url).feeLevels()).toEqual({ rate: '5' });
        expect(await prepare(url, honest.url)).toMatchObject({ details: { rate: '5' } });
        const fault = {
          ...{ code: 'chain_unavailable', message: `bitcoin: a fee rate of ${rate} is not believed` },
          cause: { alert: 'fees_not_believed' },
        };
        await expect(client(url).feeLevels()).rejects.toMatchObject(fault);
        await expect(prepare(url, url)).rejects.toMatchObject(fault);
      },
    );
  });

  describe('broadcast', () => {
    const unsigned = buildBitcoin({
      ...{ kind: 'first' as const, from, fee: 500n, coins: [coin(1, 50_000n)] },
      payments: [{ to: 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', amount: 20_000n }],
    });
    const digests = bitcoinCodec.signingPayloads(unsigned, from).map(({ digest }) => digest);
    const { bytes, id } = bitcoinCodec.assemble(unsigned, signDigests(digests, key), from);

    test('of inputs that the chain does not have is refused, in words of our own', async () => {
      expect(await client(btcd.url).broadcast(bytes)).toEqual({
        ...{ outcome: 'waiting', reason: 'an input is spent or unknown', passing: 'view' },
      });
    });

    const outpoint = `${'ab'.repeat(32)}:0`;
    const missing = 'an input is spent or unknown';
    const inPool = 'another transaction in the pool of the node spends an input';
    const replaces = 'the fee is too low for a replacement';
    const relayed = 'the fee is below what the node relays';
    const depends = 'too many unconfirmed transactions depend on each other';
    const early = 'the node lacks blocks before it';
    test.each<[number, string, string, 'price' | 'view']>([
      // Bitcoin Core
      [-25, 'bad-txns-inputs-missingorspent', missing, 'view'],
      [-25, 'Missing inputs', missing, 'view'],
      [-26, 'txn-mempool-conflict', inPool, 'view'],
      [-26, 'bad-txns-spends-conflicting-tx, ab spends conflicting transaction cd', inPool, 'view'],
      [-26, 'insufficient fee, rejecting replacement abc; new feerate 0.1 <= old feerate 0.1', replaces, 'price'],
      [-26, 'insufficient feerate: does not improve feerate diagram', replaces, 'price'],
      [-26, 'replacement-adds-unconfirmed, replacement ab adds unconfirmed input', 'what it would replace is in its way', 'view'],
      [-26, 'too many potential replacements, rejecting replacement ab', 'what it would replace is in its way', 'view'],
      [-26, 'min relay fee not met, 10 < 141', relayed, 'price'],
      [-26, 'mempool min fee not met, 10 < 141', relayed, 'price'],
      [-26, 'mempool full', 'the pool of the node is full', 'price'],
      [-26, 'too-long-mempool-chain, too many descendants', depends, 'view'],
      [-26, 'too-large-cluster', depends, 'view'],
      [-26, 'non-BIP68-final', early, 'view'],
      [-26, 'bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 7', early, 'view'],
      [-27, 'Transaction outputs already in utxo set', 'the node says that it has it', 'view'],
      // btcd
      [-25, 'TX rejected: orphan transaction ab references outputs of unknown or fully-spent transaction cd', missing, 'view'],
      [
        -25,
        `TX rejected: output ${outpoint} referenced from transaction cd:0 either does not exist or has already been spent`,
        missing,
        'view',
      ],
      [-26, `TX rejected: output ${outpoint} already spent by transaction cd in the memory pool`, inPool, 'view'],
      [-26, 'TX rejected: replacement transaction ab has an insufficient absolute fee: needs 5, has 4', replaces, 'price'],
      [
        -26,
        'TX rejected: replacement transaction spends new unconfirmed input cd:0 not found in conflicts',
        'what it would replace is in its way',
        'view',
      ],
      [-26, 'TX rejected: transaction ab has 10 fees which is under the required amount of 141', relayed, 'price'],
      [-26, 'TX rejected: transaction ab has insufficient priority (1 <= 5.76e+07)', relayed, 'price'],
      [-26, 'TX rejected: transaction ab has been rejected by the rate limiter due to low fees', relayed, 'price'],
      [-26, 'TX rejected: transaction ab is not standard: transaction is not finalized', early, 'view'],
      [-26, 'TX rejected: already have transaction ab', 'the node says that it has it', 'view'],
    ])('refused with %d %s: it may be taken later, or elsewhere', async (code, message, reason, passing) => {
      const refusing = await through({ sendrawtransaction: () => refuse(code, message) });
      const taking = await through({ sendrawtransaction: () => id });
      expect(await client(refusing.url).broadcast(bytes)).toEqual({ outcome: 'waiting', reason, passing });
      expect(await client(refusing.url, taking.url).broadcast(bytes)).toEqual({ outcome: 'accepted' });
    });

    const silent = 'http://127.0.0.1:1';
    const malformed = 'it is not valid by the rules of the chain';
    test.each([
      [
        -26,
        'mandatory-script-verify-flag-failed (Signature must be zero for failed CHECK(MULTI)SIG operation)',
        'a signature was refused',
      ],
      [
        -26,
        'block-script-verify-flag-failed (Script evaluated without error but finished with a false/empty top stack element)',
        'a signature was refused',
      ],
      [
        -25,
        `TX rejected: failed to validate input ab:0 which references output ${outpoint} - not all signatures empty on failed checkmultisig`,
        'a signature was refused',
      ],
      [-26, 'bad-txns-in-belowout, value in (0.1) < value out (0.2)', malformed],
      [
        -25,
        'TX rejected: total value of all transaction inputs for transaction ab is 5 which is less than the amount spent of 6',
        malformed,
      ],
      [-22, 'TX decode failed. Make sure the tx has at least one input.', malformed],
    ])('refused with %d %s: for good, and no other node is asked', async (code, message, reason) => {
      const refusing = await through({ sendrawtransaction: () => refuse(code, message) });
      const taking = await through({ sendrawtransaction: () => id });
      expect(await client(refusing.url, taking.url).broadcast(bytes)).toEqual({ outcome: 'rejected', reason });
      expect(taking.seen.filter(({ method }) => method === 'sendrawtransaction')).toEqual([]);
    });

    test.each([
      [-25, 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)', 'the fee is above what the node passes on'],
      [-26, 'bad-txns-nonstandard-inputs', 'the node does not relay a transaction of this form'],
      [
        -26,
        'non-mandatory-script-verify-flag (Using OP_CODESEPARATOR in non-witness script)',
        'the node does not relay a transaction of this form',
      ],
      [
        -26,
        'mempool-script-verify-flag-failed (Using OP_CODESEPARATOR in non-witness script)',
        'the node does not relay a transaction of this form',
      ],
      [-26, 'dust', 'an output is too small to be relayed'],
      [
        -26,
        'TX rejected: transaction ab is not standard: transaction output 0: payment is dust: 5',
        'an output is too small to be relayed',
      ],
    ])('refused with %d %s: as this node is configured; for good where no other one takes it', async (code, message, reason) => {
      const refusing = await through({ sendrawtransaction: () => refuse(code, message) });
      const taking = await through({ sendrawtransaction: () => id });
      expect(await client(refusing.url, taking.url).broadcast(bytes)).toEqual({ outcome: 'accepted' });
      expect(await client(refusing.url, refusing.url).broadcast(bytes)).toEqual({ outcome: 'rejected', reason });
      // the one that does not answer may take it
      expect(await client(refusing.url, silent).broadcast(bytes)).toEqual({ outcome: 'waiting', reason, passing: 'unknown' });
    });

    test.each([-25, -26])(
      'refused with %d in words that nobody knows: they may be about what passes, and are shown',
      async (code) => {
        const refusing = await asking({
          sendrawtransaction: () => refuse(code, 'a-new-rule of policy, see 0xdeadbeef at node1.example'),
        });
        expect(await refusing.broadcast(bytes)).toEqual({
          ...{ outcome: 'waiting', passing: 'unknown' },
          reason: `refused by the node (code ${code}): a-new-rule of policy, see at`,
        });
      },
    );

    test.each([
      [-27, 'Transaction outputs already in utxo set'],
      [-26, 'txn-already-known'],
    ])('refused with %d %s by a node that has it: accepted', async (code, message) => {
      const having = await asking({
        sendrawtransaction: () => refuse(code, message),
        getrawtransaction: (asked) => (asked === id ? { txid: id } : refuse(-5)),
      });
      expect(await having.broadcast(bytes)).toEqual({ outcome: 'accepted' });
    });

    test.each<[string, object]>([
      ['dust', { reason: 'an output is too small to be relayed', passing: 'unknown' }],
      ['mempool full', { reason: 'the pool of the node is full', passing: 'price' }],
    ])('refused with "%s" by a node that does not say whether it has it: never for good', async (message, waits) => {
      const refusing = await through({
        sendrawtransaction: () => refuse(-26, message),
        getrawtransaction: () => refuse(-28, 'Loading block index…'),
      });
      const taking = await through({ sendrawtransaction: () => id });
      expect(await client(refusing.url).broadcast(bytes)).toEqual({ outcome: 'waiting', ...waits });
      expect(await client(refusing.url, taking.url).broadcast(bytes)).toEqual({ outcome: 'accepted' });
    });

    test.each([null, '', 'ab'.repeat(32)])('taken with %j in place of its id: says nothing about it', async (answer) => {
      const odd = await through({ sendrawtransaction: () => answer });
      expect(await client(odd.url).broadcast(bytes)).toMatchObject({
        ...{ outcome: 'waiting', reason: expect.stringMatching(/^no endpoint takes it; they answer: /), passing: 'unknown' },
      });
      expect(await client(odd.url, silent).broadcast(bytes)).toMatchObject({
        ...{ outcome: 'waiting', reason: expect.stringMatching(/; not every endpoint answers$/), passing: 'unknown' },
      });
      await expect(client(silent).broadcast(bytes)).rejects.toMatchObject({ code: 'chain_unavailable' });
    });

    describe('to several nodes:', () => {
      const sending = async (...answers: (() => unknown)[]) => {
        const urls = answers.map(async (sendrawtransaction) => (await through({ sendrawtransaction })).url);
        return client(...(await Promise.all(urls))).broadcast(bytes);
      };
      const isMissing = () => refuse(-25, 'bad-txns-inputs-missingorspent');
      const isDear = () => refuse(-26, 'mempool min fee not met, 10 < 141');
      const spent = { outcome: 'waiting', reason: 'an input is spent or unknown', passing: 'view' };

      test.each([
        ['does not know an input', isMissing],
        ['refuses by what it relays', isDear],
      ])('one that %s does not decide', async (_name, refusing) => {
        expect(await sending(refusing, () => id)).toEqual({ outcome: 'accepted' });
      });

      test('if all refuse, or do not answer, the first reason counts', async () => {
        expect(await sending(isMissing, isDear)).toEqual(spent);
        expect(await sending(isMissing, () => refuse(-28))).toEqual(spent);
        expect(await sending(() => refuse(-28), isMissing)).toEqual(spent);
      });

      test('what every node would refuse is not asked again', async () => {
        const next = jest.fn(() => id);
        expect(await sending(() => refuse(-26, 'bad-txns-in-belowout'), next)).toMatchObject({ outcome: 'rejected' });
        expect(next).not.toHaveBeenCalled();
      });
    });

    test('a node that is starting says nothing about it: it is waited for, also where another one is silent', async () => {
      const starting = await through({ sendrawtransaction: () => refuse(-28, 'Loading block index…') });
      const waits = { outcome: 'waiting', reason: 'refused by the node (code -28): Loading block', passing: 'unknown' };
      expect(await client(starting.url).broadcast(bytes)).toEqual(waits);
      expect(await client(starting.url, silent).broadcast(bytes)).toEqual({
        ...{ ...waits, reason: `${waits.reason}; not every endpoint answers` },
      });
      const limiting = await asking({ sendrawtransaction: () => refuse(-1, 'rate limit exceeded') });
      await expect(limiting.broadcast(bytes)).rejects.toMatchObject({ code: 'chain_unavailable' });
    });
  });
});
