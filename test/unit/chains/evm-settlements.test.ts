import { x402ExactPermit2ProxyABI, x402UptoPermit2ProxyABI } from '@x402/evm';
import {
  type Abi,
  decodeFunctionData,
  encodeFunctionData,
  getAddress,
  numberToHex,
  pad,
  parseTransaction,
  zeroAddress,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { evmCodec as codec } from '../../../src/chains/evm/codec';
import { feesIn } from '../../../src/chains/evm/codec/transaction';
import { toMessageKey } from '../../../src/chains/evm/message-key';
import {
  exactProxyAddress,
  multicall3Abi,
  multicall3Address,
  uptoProxyAddress,
} from '../../../src/chains/evm/payments/contracts';
import { loadRegistry } from '../../../src/chains/registry';
import type { ChainDefinition, Hex } from '../../../src/chains/types';
import {
  authorizationPlan,
  buildSettlement,
  changeBytes,
  deploymentPlan,
  exactPlan,
  keySignature,
  settledAt,
  type SettlementPlan,
  tokenPermit,
  toSettlementIntent,
  uptoPlan,
  walletSignature,
} from '../../evm-settlements';

/** Bytes that carry out what a payer has authorised: built, described and named. */

const withPermit = (plan: SettlementPlan): SettlementPlan => ({ ...plan, permit: tokenPermit });
const plans: [string, SettlementPlan, target: string, selector: Hex | null][] = [
  ['an authorisation of a key', authorizationPlan, authorizationPlan.token, '0xe3ee160e'],
  ['an authorisation of a wallet', { ...authorizationPlan, signature: walletSignature }, authorizationPlan.token, '0xcf092995'],
  ['an authorisation of a wallet to be created', deploymentPlan, multicall3Address, '0x82ad56cb'],
  ['a permit', exactPlan, exactProxyAddress, null],
  ['a permit of a wallet', { ...exactPlan, signature: walletSignature }, exactProxyAddress, null],
  ['a permit with an allowance', withPermit(exactPlan), exactProxyAddress, null],
  ['a part of a permit', uptoPlan, uptoProxyAddress, null],
  ['a part of a permit with an allowance', withPermit(uptoPlan), uptoProxyAddress, null],
];
const longest: Hex = `0x${'ab'.repeat(2_048)}`;
const withCreation = (data: Hex): SettlementPlan => ({
  ...deploymentPlan,
  deployment: { factory: deploymentPlan.deployment?.factory as string, data },
});
const callOf = (unsigned: Hex) => parseTransaction(unsigned) as { to: Hex; data: Hex; value?: bigint };

describe.each(plans)('%s', (_what, plan, target, selector) => {
  const unsigned = buildSettlement(plan);

  it('is one call of its contract without value', () => {
    const { to, data, value = 0n } = callOf(unsigned);
    expect({ to: getAddress(to), value }).toEqual({ to: getAddress(target), value: 0n });
    if (selector) expect(data.slice(0, 10)).toBe(selector);
  });

  it('is described as what it was built from', () => {
    const { method, payer, payTo, token, amount, authorised, nonce, from, validBefore, deployment } = plan;
    const isAuthorization = method === 'eip3009';
    expect(codec.describe(unsigned)).toEqual({
      chain: 'eip155:1',
      action: 'settlement',
      outputs: [{ recipient: getAddress(payTo), tokenContract: getAddress(token), amount }],
      settlement: {
        method,
        payer: getAddress(payer),
        identity: isAuthorization ? `${token.toLowerCase()}/${payer}/${nonce}` : `${payer}/${nonce}`,
        authorised: BigInt(authorised),
        facilitator: method === 'permit2_upto' ? getAddress(from) : null,
        ...(deployment
          ? { contract: getAddress(token), factory: getAddress(deployment.factory) }
          : { contract: getAddress(target) }),
        action: { ...toSettlementIntent(plan).action, payer: getAddress(payer) },
        authorisation: expect.stringContaining(plan.signature) as string,
      },
      // EIP-3009 excludes its last second
      expiresAt: Number(validBefore) - (isAuthorization ? 1 : 0),
      maxNetworkFee: plan.gasLimit * (plan.maxFeePerGas ?? 0n),
      resources: ['4'],
    });
  });

  it('is built again from what it is described as', () => {
    const { outputs, settlement } = codec.describe(unsigned);
    const intent = { from: plan.from, outputs, action: settlement!.action };
    const [chain] = loadRegistry('local', ['ethereum']).all as [ChainDefinition];
    const prepared = codec.recover(unsigned, 10n ** 15n);
    expect(codec.build({ chain, intent, kind: 'first', prepared, resources: ['4'] })).toBe(unsigned);
  });

  it('is prepared again from its bytes, and signed by its sender', async () => {
    const { details } = codec.recover(unsigned, 10n ** 15n);
    const { gasLimit } = feesIn(unsigned);
    expect(details).toMatchObject({ gasLimit: gasLimit.toString() });
    const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
    const [payload] = codec.signingPayloads(unsigned, account.address);
    const signature = await account.sign({ hash: payload?.digest as Hex });
    const recovery = Number.parseInt(signature.slice(130), 16) - 27;
    const { bytes } = codec.assemble(unsigned, [`${signature.slice(0, 130)}0${recovery}` as Hex], account.address);
    expect(callOf(bytes)).toMatchObject(callOf(unsigned));
  });

  it('has the same key as the transaction that a node reports', () => {
    const { to, data } = callOf(unsigned);
    const reported = {
      ...{ type: '0x2' as const, hash: '0x' as const, from: plan.from as Hex, to, input: data, value: '0x0' as const },
      nonce: numberToHex(plan.accountNonce),
      gas: numberToHex(plan.gasLimit),
      maxFeePerGas: numberToHex(plan.maxFeePerGas ?? 0n),
      maxPriorityFeePerGas: numberToHex(plan.maxPriorityFeePerGas ?? 0n),
    };
    const chain = loadRegistry('local', ['ethereum']).get('ethereum');
    expect(toMessageKey(reported as unknown as Parameters<typeof toMessageKey>[0], chain)).toBe(
      codec.messageKey(unsigned, plan.from),
    );
  });
});

it.each<[string, SettlementPlan, Abi]>([
  ['exact', withPermit(exactPlan), x402ExactPermit2ProxyABI],
  ['upto', withPermit(uptoPlan), x402UptoPermit2ProxyABI],
])('the official ABI of the %s proxy reads the same call', (scheme, plan, abi) => {
  const { functionName, args } = decodeFunctionData({ abi, data: callOf(buildSettlement(plan)).data });
  const permit = {
    permitted: { token: getAddress(plan.token), amount: 1_000n },
    nonce: 12_345_678_901_234_567_890n,
    deadline: BigInt(settledAt + 60),
  };
  const witness = { to: getAddress(plan.payTo), validAfter: BigInt(settledAt - 600) };
  const allowance = { ...tokenPermit, value: 1_000n, deadline: BigInt(tokenPermit.deadline) };
  const owner = getAddress(plan.payer);
  expect(functionName).toBe('settleWithPermit');
  expect(args).toEqual(
    scheme === 'exact'
      ? [allowance, permit, owner, witness, keySignature]
      : [allowance, permit, 400n, owner, { ...witness, facilitator: getAddress(plan.from) }, keySignature],
  );
});

it('a legacy transaction settles too', () => {
  const legacy = buildSettlement({ ...exactPlan, maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 50n });
  expect(codec.describe(legacy)).toMatchObject({ action: 'settlement', maxNetworkFee: 150_000n * 50n });
});

it('an end that no clock reaches is told as the year 9999', () => {
  const endless = (2n ** 256n - 1n).toString();
  for (const plan of [authorizationPlan, exactPlan])
    expect(codec.describe(buildSettlement({ ...plan, validBefore: endless })).expiresAt).toBe(253_402_300_799);
});

it.each<[string, SettlementPlan]>([
  ['nothing', { ...authorizationPlan, amount: 0n, authorised: '0' }],
  ['a part of an authorisation', { ...authorizationPlan, amount: 999n }],
  ['a part of an exact permit', { ...exactPlan, amount: 999n }],
  ['more than was authorised', { ...uptoPlan, amount: 1_001n }],
  ['nothing of a permit', { ...uptoPlan, amount: 0n }],
  ['a payer that nobody is', { ...exactPlan, payer: zeroAddress }],
  ['to the zero address', { ...authorizationPlan, payTo: zeroAddress }],
  ['by a method that is not known', { ...exactPlan, method: 'permit2' }],
  ['with a signature of 2,049 bytes', { ...exactPlan, signature: `0x${'ab'.repeat(2_049)}` }],
  ['a permit of a wallet to be created', { ...exactPlan, deployment: deploymentPlan.deployment }],
  ['with an allowance of a wallet to be created', { ...deploymentPlan, permit: tokenPermit }],
  ['with a wallet of the zero address', { ...deploymentPlan, deployment: { factory: zeroAddress, data: '0x12' } }],
  ['with a call of a factory of 2,049 bytes', withCreation(`0x${'ab'.repeat(2_049)}`)],
  ['with the longest signature and call of a factory', { ...withCreation(longest), signature: longest }],
  ['with an allowance for another amount', { ...exactPlan, permit: { ...tokenPermit, value: '1001' } }],
  ['with more gas than a settlement may use', { ...exactPlan, gasLimit: 500_001n }],
  ['between two seconds', { ...authorizationPlan, validAfter: String(settledAt), validBefore: String(settledAt + 1) }],
  ['before its permit begins', { ...exactPlan, validAfter: String(settledAt + 61) }],
])('nobody settles %s', (_what, plan) => {
  expect(() => buildSettlement(plan)).toThrow();
});

it.each<[string, SettlementPlan]>([
  ['of one second', { ...authorizationPlan, validAfter: String(settledAt), validBefore: String(settledAt + 2) }],
  ['of one second of a permit', { ...exactPlan, validAfter: String(settledAt + 60) }],
  ['with the longest signature and an allowance', withPermit({ ...uptoPlan, signature: `0x${'ab'.repeat(2_048)}` })],
  ['with all the gas it may use', { ...exactPlan, gasLimit: 500_000n }],
  ['with the longest call of a factory', withCreation(longest)],
  ['with the longest signature of a wallet to be created', { ...deploymentPlan, signature: longest }],
  ['with an empty call of a factory', withCreation('0x')],
])('a settlement %s is built', (_what, plan) => {
  expect(codec.describe(buildSettlement(plan)).action).toBe('settlement');
});

it('the native coin is not settled, and a cancellation has no action', () => {
  const intent = toSettlementIntent(exactPlan);
  const plan = {
    ...{ chain: loadRegistry('local', ['ethereum']).get('ethereum'), kind: 'first' as const, resources: ['4'] },
    prepared: codec.recover(buildSettlement(exactPlan), 10n ** 15n),
  };
  const coin = { ...intent, outputs: [{ recipient: exactPlan.payTo, tokenContract: null, amount: 1_000n }] };
  expect(() => codec.build({ ...plan, intent: coin })).toThrow(/only tokens/);
  const own = { ...intent, outputs: [{ recipient: exactPlan.from, tokenContract: null, amount: 0n }] };
  expect(() => codec.build({ ...plan, intent: own, kind: 'cancellation' })).toThrow(/cancellation/);
});

describe('bytes that nobody builds', () => {
  const key = buildSettlement(authorizationPlan);
  const exact = buildSettlement(exactPlan);
  const upto = buildSettlement(uptoPlan);
  /** The first argument's address with a bit set above it. */
  const dirty = (data: Hex): Hex => `${data.slice(0, 10)}01${data.slice(12)}` as Hex;
  const inBytes = callOf(buildSettlement({ ...authorizationPlan, signature: walletSignature }));
  const length = (bytes: number): string => pad(numberToHex(bytes)).slice(2);

  it.each<[string, Hex]>([
    ['value', changeBytes(exact, () => ({ value: 1n }))],
    ['value to a token', changeBytes(key, () => ({ value: 1n }))],
    ['trailing bytes', changeBytes(key, ({ data }) => ({ data: `${data as Hex}00` }))],
    ['a trailing word', changeBytes(exact, ({ data }) => ({ data: `${data as Hex}${'00'.repeat(32)}` }))],
    ['a word less', changeBytes(upto, ({ data }) => ({ data: (data as Hex).slice(0, -64) as Hex }))],
    ['dirty upper bytes of an address', changeBytes(key, ({ data }) => ({ data: dirty(data as Hex) }))],
    ['dirty upper bytes of a permit', changeBytes(exact, ({ data }) => ({ data: dirty(data as Hex) }))],
    ['another function', changeBytes(exact, ({ data }) => ({ data: `0x12345678${(data as Hex).slice(10)}` }))],
    ['a question', changeBytes(exact, () => ({ data: '0x6afdd850' }))],
    ['the selector alone', changeBytes(key, () => ({ data: '0xe3ee160e' }))],
    ['an exact permit at the other proxy', changeBytes(exact, () => ({ to: uptoProxyAddress }))],
    ['an upto permit at the other proxy', changeBytes(upto, () => ({ to: exactProxyAddress }))],
    ['a permit at the token', changeBytes(exact, () => ({ to: authorizationPlan.token as Hex }))],
    ['an authorisation at a proxy', changeBytes(key, () => ({ to: exactProxyAddress }))],
    ['gas above the cap of any chain', changeBytes(key, () => ({ gas: 700_001n }))],
    [
      "a key's signature in the form of wallets",
      changeBytes(key, () => ({
        data: `${inBytes.data.slice(0, 10 + 7 * 64)}${length(65)}${keySignature.slice(2).padEnd(192, '0')}` as Hex,
      })),
    ],
    ['an access list', changeBytes(exact, () => ({ accessList: [{ address: exactProxyAddress, storageKeys: [] }] }))],
  ])('%s', (_what, unsigned) => {
    expect(() => codec.describe(unsigned)).toThrow();
    expect(() => codec.signingPayloads(unsigned, authorizationPlan.from)).toThrow();
  });
});

describe('bytes that create a wallet, and that nobody builds', () => {
  const unsigned = buildSettlement(deploymentPlan);
  const [calls] = decodeFunctionData({ abi: multicall3Abi, data: callOf(unsigned).data }).args;
  const [creation, settlement] = calls as unknown as [Call, Call];
  const permit = callOf(buildSettlement(exactPlan));
  const encode = (...changed: Call[]) => encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [changed] });
  const calling = (...changed: Call[]) => changeBytes(unsigned, () => ({ data: encode(...changed) }));

  it('unless they are the same', () => {
    expect(calling(creation, settlement)).toBe(unsigned);
    expect(creation).toMatchObject({ target: getAddress(deploymentPlan.deployment?.factory as string), allowFailure: true });
    expect(settlement).toMatchObject({ target: getAddress(deploymentPlan.token), allowFailure: false });
  });

  it.each<[string, Hex]>([
    ['value', changeBytes(unsigned, () => ({ value: 1n }))],
    ['no call', calling()],
    ['the settlement alone', calling(settlement)],
    ['the wallet alone', calling(creation)],
    ['the settlement first', calling(settlement, creation)],
    ['a third call', calling(creation, settlement, creation)],
    ['two settlements', calling(settlement, settlement)],
    ['a settlement that may fail', calling(creation, { ...settlement, allowFailure: true })],
    ['a creation that may not fail', calling({ ...creation, allowFailure: false }, settlement)],
    ['a permit', calling(creation, { ...settlement, target: permit.to, callData: permit.data })],
    ['a permit at the token', calling(creation, { ...settlement, callData: permit.data })],
    ['another such call', calling(creation, { ...settlement, target: multicall3Address, callData: callOf(unsigned).data })],
    ['an authorisation at Multicall3', calling(creation, { ...settlement, target: multicall3Address })],
    [
      'another function of the token',
      calling(creation, { ...settlement, callData: `0xa9059cbb${settlement.callData.slice(10)}` }),
    ],
    ['a question to the token', calling(creation, { ...settlement, callData: '0x06fdde03' })],
    ['trailing bytes of the settlement', calling(creation, { ...settlement, callData: `${settlement.callData}00` })],
    ['trailing bytes', changeBytes(unsigned, ({ data }) => ({ data: `${data as Hex}${'00'.repeat(32)}` }))],
    ['a flag of 2', changeBytes(unsigned, ({ data }) => ({ data: flagged(data as Hex) }))],
    ['another contract', changeBytes(unsigned, () => ({ to: exactProxyAddress }))],
    ['the calls at the token', changeBytes(unsigned, () => ({ to: deploymentPlan.token as Hex }))],
    ['tryAggregate', changeBytes(unsigned, ({ data }) => ({ data: `0xbce38bd7${(data as Hex).slice(10)}` }))],
    ['gas above the cap of any chain', changeBytes(unsigned, () => ({ gas: 700_001n }))],
  ])('%s', (_what, bytes) => {
    expect(() => codec.describe(bytes)).toThrow();
    expect(() => codec.signingPayloads(bytes, deploymentPlan.from)).toThrow();
  });
});

interface Call {
  target: Hex;
  allowFailure: boolean;
  callData: Hex;
}

/** With a flag that is neither true nor false: the second word of the first call. */
function flagged(data: Hex): Hex {
  const at = data.indexOf(`${pad('0x1').slice(2)}${pad('0x60').slice(2)}`);
  return `${data.slice(0, at)}${pad('0x2').slice(2)}${data.slice(at + 64)}` as Hex;
}
