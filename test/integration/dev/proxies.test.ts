import {
  type Address,
  type BaseError,
  decodeErrorResult,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseAbi,
  parseEther,
  parseEventLogs,
  parseSignature,
  toHex,
} from 'viem';
import { sendNative } from '../../../dev/chain';
import {
  exactProxyAbi,
  exactProxyAddress,
  permit2Address,
  uptoProxyAbi,
  uptoProxyAddress,
} from '../../../src/chains/evm/payments/contracts';
import { permitDigest } from '../../../src/chains/evm/payments/typed-data';
import { account, type Payers, startPayers } from './payers';

jest.setTimeout(120_000);

const errors = parseAbi([
  'error InvalidAmount()',
  'error InvalidOwner()',
  'error InvalidDestination()',
  'error PaymentTooEarly()',
  'error Permit2612AmountMismatch()',
  'error AmountExceedsPermitted()',
  'error UnauthorizedFacilitator()',
  'error InvalidNonce()',
  'error InvalidSigner()',
  'error SignatureExpired(uint256 signatureDeadline)',
  'error Error(string reason)',
]);
const events = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Settled()',
  'event SettledWithPermit()',
  'event EIP2612PermitFailedWithReason(address indexed token, address indexed owner, string reason)',
]);
const zero: Address = `0x${'00'.repeat(20)}`;
const to: Address = '0x00000000000000000000000000000000000A11cE';
const [settler, other, newcomer] = [account('settler'), account('other'), account('newcomer')];
/** Block time of calls that are not sent. */
const time = 4_000_000_000n;

interface Settlement {
  scheme: 'exact' | 'upto';
  permitted: bigint;
  amount: bigint;
  nonce: bigint;
  deadline: bigint;
  owner: Address;
  to: Address;
  validAfter: bigint;
  sender: Address;
  signer: ReturnType<typeof account>;
  /** Value of a permit (EIP-2612) for Permit2; null: none. */
  permit2612: { value: bigint; deadline: bigint } | null;
}

let payers: Payers;
beforeAll(async () => {
  payers = await startPayers();
  await sendNative(payers.anvil.chain, settler.address, parseEther('1'));
});
afterAll(() => payers?.anvil.stop());

const normal = (scheme: 'exact' | 'upto'): Settlement => ({
  scheme,
  permitted: 1_000n,
  amount: 1_000n,
  nonce: 5n,
  deadline: time,
  owner: payers.payer.address,
  to,
  validAfter: 0n,
  sender: settler.address,
  signer: payers.payer,
  permit2612: null,
});

async function signTokenPermit({ owner, signer }: Settlement, { value, deadline }: { value: bigint; deadline: bigint }) {
  const nonces = { abi: parseAbi(['function nonces(address) view returns (uint256)']), functionName: 'nonces' } as const;
  const nonce = await payers.anvil.chain.readContract({ address: payers.usdc, ...nonces, args: [owner] });
  const signature = await signer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: payers.usdc },
    types: {
      Permit: ['owner', 'spender', 'value', 'nonce', 'deadline'].map((name, index) => ({
        name,
        type: index < 2 ? 'address' : 'uint256',
      })),
    },
    primaryType: 'Permit',
    message: { owner, spender: permit2Address, value, nonce, deadline },
  });
  const { r, s, v = 0n } = parseSignature(signature);
  return { value, deadline, r, s, v: Number(v) };
}

async function encode(settlement: Settlement): Promise<{ proxy: Address; data: Hex }> {
  const { scheme, permitted: amount, owner, validAfter, signer, permit2612 } = settlement;
  const permit = { permitted: { token: payers.usdc, amount }, nonce: settlement.nonce, deadline: settlement.deadline };
  const proxy = scheme === 'exact' ? exactProxyAddress : uptoProxyAddress;
  const facilitator = scheme === 'exact' ? null : settler.address;
  const witness = { to: settlement.to, facilitator, validAfter };
  const signature = await signer.sign({ hash: permitDigest(8453, { ...permit, spender: proxy, witness }) });
  const tokenPermit = permit2612 && (await signTokenPermit(settlement, permit2612));
  if (scheme === 'exact') {
    const args = [permit, owner, witness, signature] as const;
    return {
      proxy,
      data: tokenPermit
        ? encodeFunctionData({ abi: exactProxyAbi, functionName: 'settleWithPermit', args: [tokenPermit, ...args] })
        : encodeFunctionData({ abi: exactProxyAbi, functionName: 'settle', args }),
    };
  }
  const args = [permit, settlement.amount, owner, { ...witness, facilitator: settler.address }, signature] as const;
  return {
    proxy,
    data: tokenPermit
      ? encodeFunctionData({ abi: uptoProxyAbi, functionName: 'settleWithPermit', args: [tokenPermit, ...args] })
      : encodeFunctionData({ abi: uptoProxyAbi, functionName: 'settle', args }),
  };
}

/** 'ok', or the name of the error that the call reverts with. */
async function outcome(settlement: Settlement): Promise<string> {
  const { proxy, data } = await encode(settlement);
  const request = { from: settlement.sender, to: proxy, data, gas: toHex(1_000_000) };
  try {
    await payers.anvil.chain.request({ method: 'eth_call', params: [request, 'latest', {}, { time: toHex(time) }] } as never);
    return 'ok';
  } catch (error) {
    const cause = (error as BaseError).walk((inner) => (inner as { code?: number }).code === 3) as { data?: Hex } | null;
    if (!cause?.data) throw error;
    return decodeErrorResult({ abi: errors, data: cause.data }).errorName;
  }
}

/** Sends it, and returns what the logs say: [event, amounts]. */
async function settle(settlement: Settlement) {
  const { proxy, data } = await encode(settlement);
  const before = await payers.anvil.chain.getBlockNumber();
  expect(await payers.send(proxy, data, settler)).toBe('success');
  const logs = await payers.anvil.chain.getLogs({ fromBlock: before + 1n, toBlock: 'latest' });
  return parseEventLogs({ abi: events, logs }).map((log) =>
    log.eventName === 'Transfer' ? [log.eventName, log.args.from, log.args.to, log.args.value] : [log.eventName],
  );
}

type Case = [string, Partial<Settlement>, string];
const common: Case[] = [
  ['a good settlement', {}, 'ok'],
  ['anybody may not sign', { signer: other }, 'InvalidSigner'],
  ['an amount of 0', { permitted: 0n, amount: 0n }, 'InvalidAmount'],
  ['the zero address as owner', { owner: zero }, 'InvalidOwner'],
  ['the zero address as recipient', { to: zero }, 'InvalidDestination'],
  ['from its first second', { validAfter: time }, 'ok'],
  ['a second too early', { validAfter: time + 1n }, 'PaymentTooEarly'],
  ['in its last second', { deadline: time }, 'ok'],
  ['a second too late', { deadline: time - 1n }, 'SignatureExpired'],
  ['a permit of another amount', { permit2612: { value: 999n, deadline: time } }, 'Permit2612AmountMismatch'],
  ['a permit that fails, with an allowance', { permit2612: { value: 1_000n, deadline: 1n } }, 'ok'],
];

describe.each(['exact', 'upto'] as const)('the stand-in for the %s proxy', (scheme) => {
  it.each(common)('%s: %s', async (_, changes, expected) => {
    expect(await outcome({ ...normal(scheme), ...changes })).toBe(expected);
  });

  it('settles once, by a Transfer from the payer to the recipient', async () => {
    const settlement = { ...normal(scheme), nonce: 77n + BigInt(scheme.length), amount: scheme === 'upto' ? 400n : 1_000n };
    const payer = payers.payer.address;
    expect(await settle(settlement)).toEqual([['Transfer', payer, to, settlement.amount], ['Settled']]);
    expect(await outcome(settlement)).toBe('InvalidNonce');
  });
});

describe('the stand-in for the upto proxy', () => {
  it.each<Case>([
    ['less than permitted', { amount: 1n }, 'ok'],
    ['more than permitted', { amount: 1_001n }, 'AmountExceedsPermitted'],
    ['another sender than the facilitator', { sender: other.address }, 'UnauthorizedFacilitator'],
    ['nothing', { amount: 0n }, 'InvalidAmount'],
  ])('%s: %s', async (_, changes, expected) => {
    expect(await outcome({ ...normal('upto'), ...changes })).toBe(expected);
  });
});

it('a permit gives the allowance that a payer does not have', async () => {
  const { usdc } = payers;
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [newcomer.address, 2_000n] });
  expect(await payers.send(usdc, transfer)).toBe('success');
  const settlement = { ...normal('exact'), owner: newcomer.address, signer: newcomer };
  expect(await outcome(settlement)).toBe('Error');
  expect(await outcome({ ...settlement, permit2612: { value: 1_000n, deadline: 1n } })).toBe('Error');
  const logs = await settle({ ...settlement, permit2612: { value: 1_000n, deadline: time } });
  expect(logs).toEqual([['Transfer', newcomer.address, to, 1_000n], ['SettledWithPermit']]);
});
