import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseAbi,
  parseAbiParameters,
  parseEther,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  toFunctionSelector,
  toHex,
} from 'viem';
import { mintToken, sendNative } from '../../../dev/chain';
import { type Deployment, encodeSettlement } from '../../../src/chains/evm/payments/calldata';
import { EvmPaymentClient } from '../../../src/chains/evm/payments/client';
import {
  exactProxyAddress,
  multicall3Address,
  permit2Address,
  uptoProxyAddress,
} from '../../../src/chains/evm/payments/contracts';
import { authorizationDigest, permitDigest } from '../../../src/chains/evm/payments/typed-data';
import { Endpoints } from '../../../src/chains/evm/rpc';
import type { Payment } from '../../../src/chains/payments';
import { loadRegistry } from '../../../src/chains/registry';
import type { JsonObject, TokenDefinition } from '../../../src/chains/types';
import { approvalInfo } from '../../sponsoring';
import { type Creation, placeFactory, walletFactory, walletOf } from '../../wallet-factory';
import { account, type Payers, startPayers, takenByMode } from '../dev/payers';
import { type Falsify, startRpcProxy, type Withhold } from './rpc-proxy';

jest.setTimeout(180_000);

const chain = loadRegistry('local', ['base']).get('base');
const [usdc, usdt] = chain.tokens as [TokenDefinition, TokenDefinition];
const payTo: Address = '0x00000000000000000000000000000000000A11cE';
const [settler, other, newcomer] = [account('settler'), account('other'), account('newcomer')];
const far = 2n ** 40n;
type Signer = ReturnType<typeof account>;

let payers: Payers;
let client: EvmPaymentClient;
beforeAll(async () => {
  payers = await startPayers();
  client = new EvmPaymentClient(chain, new Endpoints(chain, [payers.anvil.rpc]));
  await placeFactory(payers.anvil.chain);
  await sendNative(payers.anvil.chain, settler.address, parseEther('1'));
  await mintToken(payers.anvil.chain, usdc.contract as Address, newcomer.address, 5_000n);
});
afterAll(() => payers?.anvil.stop());

const unsigned = (changes: Partial<Payment>): Payment => ({
  method: 'eip3009',
  chain,
  token: usdc,
  payer: payers.payer.address,
  payTo,
  authorised: 1_000n,
  amount: 1_000n,
  identity: '',
  nonce: toHex(1, { size: 32 }),
  validAfter: 0n,
  validBefore: far,
  lastSecond: far,
  signature: '0x',
  isWrapped: false,
  domain: { name: 'USD Coin', version: '2' },
  facilitator: null,
  sponsoring: { type: 'none' },
  ...changes,
});

/** Signed by the payer's key unless `by` says who else. */
async function authorization(changes: Partial<Payment> = {}, by: Signer = payers.payer): Promise<Payment> {
  const payment = unsigned(changes);
  const { domain, token, payer: from, authorised: value, validAfter, validBefore, nonce } = payment;
  const hash = authorizationDigest(
    { ...(domain as { name: string; version: string }), chainId: 8453, verifyingContract: token.contract as Address },
    { from: from as Address, to: payTo, value, validAfter, validBefore, nonce: nonce as Hex },
  );
  return { ...payment, signature: changes.signature ?? (await by.sign({ hash })) };
}

async function permit(changes: Partial<Payment> = {}, by: Signer = payers.payer): Promise<Payment> {
  const payment = unsigned({ method: 'permit2_exact', nonce: '1', domain: null, ...changes });
  const { method, token, authorised: amount, validAfter, validBefore: deadline, facilitator } = payment;
  const hash = permitDigest(8453, {
    permitted: { token: token.contract as Address, amount },
    spender: method === 'permit2_exact' ? exactProxyAddress : uptoProxyAddress,
    nonce: BigInt(payment.nonce),
    deadline,
    witness: { to: payTo, facilitator: facilitator as Address | null, validAfter },
  });
  return { ...payment, signature: await by.sign({ hash }) };
}
const upto = (changes: Partial<Payment> = {}) => permit({ method: 'permit2_upto', facilitator: settler.address, ...changes });

/** Has 5,000 atomic units at the address of a wallet that `owner` would have. */
async function ofUncreated(name: string, changes: Partial<Deployment> = {}, by: Signer = payers.payer): Promise<Payment> {
  const wallet = await walletOf(payers.payer.address, name);
  await mintToken(payers.anvil.chain, usdc.contract as Address, wallet.address, 5_000n);
  const sponsoring = { type: 'deployment', factory: walletFactory, data: wallet.data, ...changes } as const;
  return authorization({ payer: wallet.address, isWrapped: true, sponsoring }, by);
}

/** null: the chain would execute it. */
const simulate = async (payment: Payment, from: Signer = settler, on = client) => {
  const simulated = await on.simulate(payment, from.address);
  return 'reason' in simulated ? simulated.reason : null;
};
const settle = async (payment: Payment, amount = payment.amount) => {
  const { to, data } = encodeSettlement(payment, amount);
  return payers.send(to, data, settler);
};
const wrap = (signature: Hex): Hex =>
  concat([
    encodeAbiParameters(parseAbiParameters('address, bytes, bytes'), [payTo, '0x1234', signature]),
    `0x${'6492'.repeat(16)}`,
  ]);

describe('an EIP-3009 payment', () => {
  it('that simulates well is executed, once', async () => {
    const payment = await authorization({ nonce: toHex(2, { size: 32 }) });
    expect(await simulate(payment)).toBeNull();
    expect(await settle(payment)).toBe('success');
    expect(await simulate(payment)).toBe('invalid_exact_evm_nonce_already_used');
    expect(await settle(payment)).toBe('reverted');
  });

  it.each<[string, () => Promise<Payment>, string]>([
    ['another signer', () => authorization({}, other), 'invalid_exact_evm_signature'],
    ['no signature', () => authorization({ signature: '0x' }), 'invalid_exact_evm_signature'],
    ['more than the balance', () => authorization({ authorised: 10n ** 12n }), 'invalid_exact_evm_insufficient_balance'],
    ['another name', () => authorization({ domain: { name: 'USDC', version: '2' } }), 'invalid_exact_evm_token_name_mismatch'],
    [
      'another version',
      () => authorization({ domain: { name: 'USD Coin', version: '1' } }),
      'invalid_exact_evm_token_version_mismatch',
    ],
    ['a time that has passed', () => authorization({ validBefore: 5n }), 'invalid_exact_evm_transaction_simulation_failed'],
    ['a token without EIP-3009', () => authorization({ token: usdt }), 'invalid_exact_evm_eip3009_not_supported'],
    ['an address without code', () => authorization({ token: { ...usdc, contract: payTo } }), 'asset_not_deployed_contract'],
  ])('%s: %#', async (_, payment, reason) => {
    expect(await simulate(await payment())).toBe(reason);
  });

  it('of a token that is paused, and to somebody on its blacklist', async () => {
    const switches = parseAbi(['function setPaused(bool)', 'function setBlacklisted(address, bool)']);
    const set = (data: Hex) => payers.send(usdc.contract as Address, data);
    const payment = await authorization();
    for (const on of [true, false]) {
      await set(encodeFunctionData({ abi: switches, functionName: 'setPaused', args: [on] }));
      expect(await simulate(payment)).toBe(on ? 'invalid_exact_evm_transaction_simulation_failed' : null);
    }
    for (const on of [true, false]) {
      await set(encodeFunctionData({ abi: switches, functionName: 'setBlacklisted', args: [payTo, on] }));
      expect(await simulate(payment)).toBe(on ? 'invalid_exact_evm_transaction_simulation_failed' : null);
    }
  });
});

describe('a payer that is a contract', () => {
  it.each(takenByMode)('in mode %s may pay: %s', async (mode, mayPay) => {
    await payers.setMode(mode);
    const changes = { payer: payers.wallet };
    expect(await simulate(await authorization(changes))).toBe(mayPay ? null : 'invalid_exact_evm_signature');
    expect(await simulate(await permit(changes))).toBe(mayPay ? null : 'invalid_permit2_signature');
  });

  it('is asked even if a key of the same address could have signed (EIP-7702)', async () => {
    const delegate = account('delegating');
    await mintToken(payers.anvil.chain, usdc.contract as Address, delegate.address, 5_000n);
    await payers.anvil.chain.setCode({ address: delegate.address, bytecode: concat(['0xef0100', payers.wallet]) });
    expect(await simulate(await authorization({ payer: delegate.address }, delegate))).toBeNull();
    expect(await simulate(await authorization({ payer: delegate.address }, other))).toBe('invalid_exact_evm_signature');
  });

  it('that does not exist yet is not created here (ERC-6492)', async () => {
    const inner = await authorization({ payer: newcomer.address }, newcomer);
    expect(await simulate(inner)).toBeNull();
    expect(await simulate({ ...inner, isWrapped: true })).toBe('eip6492_factory_not_allowed');
    const ofWallet = await authorization({ payer: payers.wallet });
    expect(await simulate({ ...ofWallet, isWrapped: true })).toBeNull();
    // one that was not unwrapped is a signature like any other
    expect(await simulate({ ...inner, signature: wrap(inner.signature) })).toBe('invalid_exact_evm_signature');
  });
});

describe('a payer whose wallet does not exist yet (ERC-6492)', () => {
  const createOf = async (name: string) => (await walletOf(payers.payer.address, name)).data;

  it('pays and has it created by one transaction, once', async () => {
    const payment = await ofUncreated('one');
    expect(await client.simulate(payment, settler.address)).toEqual({ payment });
    expect(await settle(payment)).toBe('success');
    expect(await payers.anvil.chain.getCode({ address: payment.payer as Address })).toMatch(/^0x.+/);
    expect(await simulate(payment)).toBe('invalid_exact_evm_nonce_already_used');
    expect(await settle(payment)).toBe('reverted');
  });

  it.each<[Creation, 'success' | 'reverted']>([
    ['create', 'success'],
    ['createOnce', 'success'],
    ['createBlindly', 'reverted'],
  ])('pays when somebody else has created it meanwhile, by %s: %s', async (creation, outcome) => {
    const { data } = await walletOf(payers.payer.address, creation, creation);
    const payment = await ofUncreated(creation, { data });
    expect(await simulate(payment)).toBeNull();
    expect(await payers.send(walletFactory, data)).toBe('success');
    const needed = { ...payment, sponsoring: { type: 'none' } as const };
    expect(await client.simulate(payment, settler.address)).toEqual({ payment: needed });
    // as if it was created between verdict and execution
    expect(await settle(payment)).toBe(outcome);
  });

  it.each<[string, () => Promise<Payment>, string]>([
    ['signed by somebody else', () => ofUncreated('three', {}, other), 'invalid_exact_evm_signature'],
    [
      'whose factory creates another one',
      async () => ofUncreated('three', { data: await createOf('four') }),
      'smart_wallet_deployment_failed',
    ],
    ['whose factory reverts', () => ofUncreated('three', { data: '0x12345678' }), 'smart_wallet_deployment_failed'],
    [
      'whose factory is not there',
      () => ofUncreated('three', { factory: payTo.toLowerCase() }),
      'smart_wallet_deployment_failed',
    ],
    [
      'that has less',
      async () => authorization({ ...(await ofUncreated('three')), authorised: 10n ** 12n, signature: undefined as never }),
      'invalid_exact_evm_insufficient_balance',
    ],
    [
      'at an address without code',
      async () => ({ ...(await ofUncreated('three')), token: { ...usdc, contract: payTo } }),
      'asset_not_deployed_contract',
    ],
  ])('%s: %#', async (_, payment, reason) => {
    expect(await simulate(await payment())).toBe(reason);
  });

  it('is no address that a key signs for: a wallet has to answer', async () => {
    const sponsoring = { type: 'deployment', factory: walletFactory, data: await createOf('five') } as const;
    const payment = await authorization({ payer: newcomer.address, isWrapped: true, sponsoring }, newcomer);
    expect(await simulate(payment)).toBe('smart_wallet_deployment_failed');
    expect(await simulate({ ...payment, isWrapped: false, sponsoring: { type: 'none' } })).toBeNull();
  });

  it('needs Multicall3', async () => {
    const code = (await payers.anvil.chain.getCode({ address: multicall3Address })) as Hex;
    const payment = await ofUncreated('six');
    await payers.anvil.chain.setCode({ address: multicall3Address, bytecode: '0x' });
    expect(await simulate(payment)).toBe('smart_wallet_deployment_failed');
    await payers.anvil.chain.setCode({ address: multicall3Address, bytecode: code });
    expect(await simulate(payment)).toBeNull();
  });
});

describe('a Permit2 payment', () => {
  it('that simulates well is executed, once', async () => {
    const payment = await permit({ nonce: '2' });
    expect(await simulate(payment)).toBeNull();
    expect(await settle(payment)).toBe('success');
    expect(await simulate(payment)).toBe('permit2_invalid_nonce');
  });

  it.each<[string, () => Promise<Payment>, string]>([
    ['another signer', () => permit({}, other), 'invalid_permit2_signature'],
    ['more than the balance', () => permit({ authorised: 10n ** 12n }), 'permit2_insufficient_balance'],
    ['no allowance', () => permit({ payer: newcomer.address }, newcomer), 'permit2_allowance_required'],
    ['a deadline that has passed', () => permit({ validBefore: 5n }), 'permit2_deadline_expired'],
    ['a time that has not come', () => permit({ validAfter: far }), 'permit2_payment_too_early'],
    ['nothing', () => permit({ authorised: 0n }), 'permit2_invalid_amount'],
    ['an address without code', () => permit({ token: { ...usdc, contract: payTo } }), 'asset_not_deployed_contract'],
  ])('%s: %#', async (_, payment, reason) => {
    expect(await simulate(await payment())).toBe(reason);
  });

  it('of a token that returns nothing', async () => {
    expect(await simulate(await permit({ token: usdt }))).toBeNull();
  });

  it('with a compact signature is refused for a key, as official facilitators do', async () => {
    const payment = await permit();
    const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(payment.signature)));
    expect(await simulate({ ...payment, signature: compact })).toBe('invalid_permit2_signature');
  });

  it('upto is simulated with all that was signed, from the only address that may settle', async () => {
    const payment = await upto({ nonce: '3', amount: 400n });
    expect(await simulate(payment)).toBeNull();
    expect(await simulate(payment, other)).toBe('upto_unauthorized_facilitator');
    expect(await settle(payment)).toBe('success');
    expect(await simulate(payment)).toBe('permit2_invalid_nonce');
    expect(await simulate(await upto({ authorised: 10n ** 12n, amount: 1n }))).toBe('permit2_insufficient_balance');
  });

  it('brings the allowance with it (EIP-2612)', async () => {
    const sign = async (value: bigint): Promise<Payment['sponsoring']> => {
      const signature = await newcomer.signTypedData({
        domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: usdc.contract as Address },
        types: {
          Permit: ['owner', 'spender', 'value', 'nonce', 'deadline'].map((name, index) => ({
            name,
            type: index < 2 ? 'address' : 'uint256',
          })),
        },
        primaryType: 'Permit',
        message: { owner: newcomer.address, spender: permit2Address, value, nonce: 0n, deadline: far },
      });
      const { r, s, v = 0n } = parseSignature(signature);
      return { type: 'permit', value, deadline: far, r, s, v: Number(v) };
    };
    const good = await sign(1_000n);
    const paymentWith = (sponsoring: Payment['sponsoring']) => permit({ payer: newcomer.address, sponsoring }, newcomer);
    expect(await simulate(await paymentWith(good))).toBeNull();
    expect(await simulate(await paymentWith({ ...good, v: 0 } as Payment['sponsoring']))).toBe('permit2_allowance_required');
    expect(await simulate(await paymentWith(await sign(999n)))).toBe('permit2_allowance_required');
    const uptoPayment = await permit(
      { payer: newcomer.address, sponsoring: good, method: 'permit2_upto', facilitator: settler.address },
      newcomer,
    );
    expect(await simulate(uptoPayment)).toBeNull();
    const payment = await paymentWith(good);
    expect(await settle(payment)).toBe('success');
    // its allowance is used up as well
    expect(await simulate(payment)).toBe('permit2_invalid_nonce');
  });

  it('whose allowance is to come from an approval lacks it until that is on the chain', async () => {
    const sponsoring = { type: 'approval', raw: '0x', id: '0x', nonce: 0, maxCost: 0n } as const;
    const poor = account('without an allowance');
    await mintToken(payers.anvil.chain, usdc.contract as Address, poor.address, 5_000n);
    expect(await simulate(await permit({ payer: poor.address, sponsoring }, poor))).toBe('permit2_allowance_required');
  });

  it('needs the proxy', async () => {
    const code = (await payers.anvil.chain.getCode({ address: exactProxyAddress })) as Hex;
    await payers.anvil.chain.setCode({ address: exactProxyAddress, bytecode: '0x' });
    const fresh = new EvmPaymentClient(chain, new Endpoints(chain, [payers.anvil.rpc]));
    expect(await simulate(await permit(), settler, fresh)).toBe('permit2_proxy_not_deployed');
    await payers.anvil.chain.setCode({ address: exactProxyAddress, bytecode: code });
    expect(await simulate(await permit(), settler, fresh)).toBeNull();
  });
});

describe('the endpoint', () => {
  async function behind<T>(falsify: Falsify, work: (client: EvmPaymentClient) => Promise<T>, withhold?: Withhold): Promise<T> {
    const proxy = await startRpcProxy(payers.anvil.rpc, falsify, withhold);
    try {
      return await work(new EvmPaymentClient(chain, new Endpoints(chain, [proxy.url])));
    } finally {
      proxy.close();
    }
  }

  it('is asked once for a good payment', async () => {
    const asked: string[] = [];
    const note: Falsify = ({ method }) => void asked.push(method);
    await behind(note, async (proxied) => {
      expect(await simulate(await authorization(), settler, proxied)).toBeNull();
      expect(await simulate(await permit(), settler, proxied)).toBeNull();
      asked.length = 0;
      expect(await simulate(await authorization(), settler, proxied)).toBeNull();
      expect(await simulate(await permit(), settler, proxied)).toBeNull();
    });
    expect(asked).toEqual(['eth_call', 'eth_call']);
  });

  describe('is asked about a wrapped signature', () => {
    let rounds: string[][] = [];
    let gate: Promise<void> | null = null;
    /** Answers nothing as long as something else is asked for: what comes later is another round trip. */
    const inRounds: Withhold = async ({ method }) => {
      if (!gate) {
        rounds.push([]);
        gate = delay(1_000).then(() => void (gate = null));
      }
      rounds.at(-1)?.push(method);
      await gate;
      return undefined;
    };
    const roundsOf = async (payment: Payment, proxied: EvmPaymentClient) => {
      rounds = [];
      const simulated = await proxied.simulate(payment, settler.address);
      return { simulated, rounds: rounds.map((methods) => methods.sort()) };
    };
    const known = ['eth_call', 'eth_getCode'];
    const unknown = ['eth_call', 'eth_call', 'eth_call', 'eth_getCode', 'eth_getCode'];

    it('in one round trip, whether the wallet exists or not, and by two calls once it is known to', async () => {
      const payment = await ofUncreated('in one round');
      const existing = { ...payment, sponsoring: { type: 'none' } };
      const { data } = await walletOf(payers.payer.address, 'in one round');
      const work = async (proxied: EvmPaymentClient) => {
        // the endpoint, the token
        await proxied.simulate(await authorization(), settler.address);
        expect(await roundsOf(payment, proxied)).toEqual({ simulated: { payment }, rounds: [unknown] });
        const snapshot = await payers.anvil.chain.snapshot();
        expect(await payers.send(walletFactory, data)).toBe('success');
        expect(await roundsOf(payment, proxied)).toEqual({ simulated: { payment: existing }, rounds: [unknown] });
        expect(await roundsOf(payment, proxied)).toEqual({ simulated: { payment: existing }, rounds: [known] });
        // a reorganisation takes the wallet back
        await payers.anvil.chain.revert({ id: snapshot });
        expect(await roundsOf(payment, proxied)).toEqual({ simulated: { payment }, rounds: [known, unknown] });
        expect(await roundsOf(payment, proxied)).toEqual({ simulated: { payment }, rounds: [unknown] });
      };
      await behind(() => undefined, work, inRounds);
    });

    it('again when a node that is behind has executed it without the wallet', async () => {
      const payment = await ofUncreated('behind');
      const { data } = await walletOf(payers.payer.address, 'behind');
      expect(await payers.send(walletFactory, data)).toBe('success');
      const isPlain = (params: unknown) =>
        (params as [{ to?: string }])[0].to?.toLowerCase() === (usdc.contract as string).toLowerCase();
      let refused = 0;
      const once: Falsify = ({ method, params }) =>
        method === 'eth_call' && isPlain(params) && refused++ === 0
          ? { error: { code: 3, message: 'execution reverted' } }
          : undefined;
      await behind(once, async (proxied) => expect(await simulate(payment, settler, proxied)).toBeNull());
      expect(refused).toBeGreaterThan(1);
    });
  });

  it.each<[string, Falsify]>([
    [
      'is overloaded',
      ({ method }) => (method === 'eth_call' ? { error: { code: -32005, message: 'limit exceeded' } } : undefined),
    ],
    ['refuses', ({ method }) => (method === 'eth_call' ? { error: { code: -32000, message: 'header not found' } } : undefined)],
    ['responds with nothing', ({ method }) => (method === 'eth_call' ? { result: null } : undefined)],
    ['responds with half a byte', ({ method }) => (method === 'eth_call' ? { result: '0x0' } : undefined)],
    ['responds with what no settlement returns', ({ method }) => (method === 'eth_call' ? { result: '0x01' } : undefined)],
    ['shows something else than code', ({ method }) => (method === 'eth_getCode' ? { result: null } : undefined)],
    ['shows no code', ({ method }) => (method === 'eth_getCode' ? { error: { code: -32603, message: 'internal' } } : undefined)],
  ])('%s: no verdict, whether the payment is good or not', async (_, falsify) => {
    const uncreated = await ofUncreated('asked about');
    for (const payment of [await authorization(), await authorization({}, other), await permit(), uncreated]) {
      await behind(falsify, async (proxied) => {
        await expect(proxied.simulate(payment, settler.address)).rejects.toMatchObject({ code: 'chain_unavailable' });
      });
    }
  });

  it('asks for the code of a wallet once, and fails only a payment for which it has to be created', async () => {
    const payment = await ofUncreated('asked for once');
    const asked: string[] = [];
    const target = (params: unknown): unknown => (params as [{ to?: string } | string])[0];
    const failing: Falsify = ({ method, params }) => {
      const to = target(params);
      if (method === 'eth_getCode') asked.push(String(to).toLowerCase());
      const isCreation =
        typeof to === 'object' && to !== null && (to as { to: string }).to.toLowerCase() === multicall3Address.toLowerCase();
      return method === 'eth_call' && isCreation ? { error: { code: -32005, message: 'limit exceeded' } } : undefined;
    };
    await behind(failing, (proxied) =>
      expect(proxied.simulate(payment, settler.address)).rejects.toMatchObject({ code: 'chain_unavailable' }),
    );
    const { data } = await walletOf(payers.payer.address, 'asked for once');
    expect(await payers.send(walletFactory, data)).toBe('success');
    asked.length = 0;
    await behind(failing, async (proxied) => expect(await simulate(payment, settler, proxied)).toBeNull());
    expect(asked.filter((address) => address === payment.payer.toLowerCase())).toHaveLength(1);
  });

  it('shows what a contract has reverted with under any code', async () => {
    const data = toFunctionSelector('function InvalidNonce()');
    let calls = 0;
    const refusing: Falsify = ({ method }) =>
      method === 'eth_call' && ++calls === 1 ? { error: { code: -32000, message: 'execution reverted', data } } : undefined;
    await behind(refusing, async (proxied) => {
      expect(await simulate(await permit(), settler, proxied)).toBe('permit2_invalid_nonce');
    });
  });

  describe('is asked about a payment with an approval', () => {
    const poor = account('asked with an approval');
    let payment: Payment;
    beforeAll(async () => {
      await mintToken(payers.anvil.chain, usdc.contract as Address, poor.address, 5_000n);
      const { signedTransaction: raw } = await approvalInfo({ payer: poor, token: usdc.contract as Address });
      const sponsoring = { type: 'approval', raw, id: keccak256(raw), nonce: 0, maxCost: 210n } as const;
      payment = await permit({ payer: poor.address, nonce: '77', sponsoring }, poor);
    });
    const quote = (falsify: Falsify) => behind(falsify, (proxied) => proxied.quoteApproval(payment, settler.address));
    const refusing =
      (code: number): Falsify =>
      ({ method }) =>
        method === 'eth_simulateV1' ? { error: { code, message: 'the method does not exist' } } : undefined;
    const simulated =
      (...calls: JsonObject[]): Falsify =>
      ({ method }) =>
        method === 'eth_simulateV1' ? { result: [{ calls }] } : undefined;

    it('simulates both, or says that it cannot', async () => {
      const asked: string[] = [];
      expect(await quote(({ method }) => void asked.push(method))).toEqual({ topUp: 210n });
      expect(asked).toContain('eth_simulateV1');
      for (const code of [-32601, -32004]) expect(await quote(refusing(code))).toEqual({ topUp: 210n });
    });

    it('and shows what would be reverted', async () => {
      const [good, bad] = [
        { status: '0x1', returnData: '0x' },
        { status: '0x0', returnData: '0x' },
      ];
      expect(await quote(simulated(bad, good))).toEqual({ reason: 'permit2_simulation_failed' });
      const data = toFunctionSelector('function InvalidDestination()');
      expect(await quote(simulated(good, { ...bad, returnData: data }))).toEqual({ reason: 'permit2_invalid_destination' });
    });

    it('and responds with something else: no verdict', async () => {
      for (const falsify of [refusing(-32000), simulated(), simulated({ status: '0x1', returnData: '0x' })])
        await expect(quote(falsify)).rejects.toMatchObject({ code: 'chain_unavailable' });
    });
  });

  it('is slow: no verdict, in time', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const began = Date.now();
    const slow = new EvmPaymentClient(chain, new Endpoints(chain, [url, url]), 500);
    await expect(slow.simulate(await authorization(), settler.address)).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect(Date.now() - began).toBeLessThan(4_000);
    silent.closeAllConnections();
    silent.close();
  });

  it('fails during the diagnosis: no verdict', async () => {
    let calls = 0;
    const failing: Falsify = ({ method }) =>
      method === 'eth_call' && ++calls > 1 ? { error: { code: -32005, message: 'limit exceeded' } } : undefined;
    const payment = await authorization({}, other);
    await behind(failing, async (proxied) => {
      await expect(proxied.simulate(payment, settler.address)).rejects.toMatchObject({ code: 'chain_unavailable' });
    });
    expect(calls).toBeGreaterThan(1);
  });

  it('is down: no verdict', async () => {
    const down = new EvmPaymentClient(chain, new Endpoints(chain, ['http://127.0.0.1:9']));
    await expect(down.simulate(await authorization(), settler.address)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });
});
