import { encodeFunctionData, erc20Abi, keccak256, maxUint256, serializeTransaction, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { permit2Address } from '../../../src/chains/evm/payments/contracts';
import type { Hex, JsonObject, JsonValue } from '../../../src/chains/types';
import {
  change,
  type Changes,
  eip3009V2,
  gone,
  now,
  paymentOf,
  permit2Exact,
  permit2Upto,
  permitInfo,
  usdc,
  usdt,
  verdict,
} from './bodies';

const key = privateKeyToAccount(keccak256(toHex('payer of the sponsoring tests')));
const stranger = privateKeyToAccount(keccak256(toHex('somebody else')));
const other = `0x${'17'.repeat(20)}` as const;

const withPermit = (changes: Changes = {}, body = permit2Exact()): JsonObject => {
  const { info } = change({ info: permitInfo() }, Object.fromEntries(Object.entries(changes).map(([f, v]) => [`info.${f}`, v])));
  return change(body, { 'paymentPayload.extensions': { eip2612GasSponsoring: { info: info as JsonValue } } });
};

describe('a permit for Permit2 (EIP-2612)', () => {
  it('is part of the payment', () => {
    for (const body of [permit2Exact(), permit2Upto()]) {
      expect(paymentOf(withPermit({}, body)).sponsoring).toEqual({
        type: 'permit',
        value: 1000n,
        deadline: BigInt(now + 60),
        r: `0x${'1b'.repeat(32)}`,
        s: `0x${'1b'.repeat(32)}`,
        v: 27,
      });
    }
  });

  it.each<[string, JsonValue, string]>([
    ['from', 'somebody', 'invalid_eip2612_extension_format'],
    ['from', 5, 'invalid_eip2612_extension_format'],
    ['asset', '0x12', 'invalid_eip2612_extension_format'],
    ['spender', {}, 'invalid_eip2612_extension_format'],
    ['amount', '0x3e8', 'invalid_eip2612_extension_format'],
    ['amount', 1000, 'invalid_eip2612_extension_format'],
    ['nonce', '-1', 'invalid_eip2612_extension_format'],
    ['deadline', 'tomorrow', 'invalid_eip2612_extension_format'],
    ['deadline', (2n ** 256n).toString(), 'invalid_eip2612_extension_format'],
    ['signature', '0x1234', 'invalid_eip2612_extension_format'],
    ['signature', 'text', 'invalid_eip2612_extension_format'],
    ['version', 'one', 'invalid_eip2612_extension_format'],
    ['version', 1, 'invalid_eip2612_extension_format'],
    ['from', other, 'eip2612_from_mismatch'],
    ['asset', usdt, 'eip2612_asset_mismatch'],
    ['spender', other, 'eip2612_spender_not_permit2'],
    ['deadline', String(now + 5), 'eip2612_deadline_expired'],
    ['deadline', String(now + 6), 'valid'],
    ['amount', '999', 'permit2_2612_amount_mismatch'],
    ['amount', '1001', 'permit2_2612_amount_mismatch'],
  ])('%s = %j: %s', (field, value, reason) => {
    expect(verdict(withPermit({ [field]: value }))).toBe(reason);
  });

  it('counts as absent when a field is missing, or when the caller may not use it', () => {
    for (const field of Object.keys(permitInfo()))
      expect(paymentOf(withPermit({ [field === 'from' ? 'asset' : 'from']: other, [field]: gone })).sponsoring).toEqual({
        type: 'none',
      });
    expect(verdict(withPermit({ from: other }), 'verify', { sponsors: { permit: false, approval: false } })).toBe('valid');
  });

  it('means nothing for EIP-3009', () => {
    expect(paymentOf(withPermit({ from: other }, eip3009V2())).sponsoring).toEqual({ type: 'none' });
  });
});

const approve = (spender: Hex = permit2Address, amount = maxUint256) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] });
const approval = {
  type: 'eip1559' as const,
  chainId: 8453,
  nonce: 7,
  to: usdc as Hex,
  data: approve(),
  gas: 70_000n,
  maxFeePerGas: 3n,
  maxPriorityFeePerGas: 1n,
};
const approvalInfo = async (transaction: Record<string, unknown> = {}, signer = key) => ({
  from: key.address,
  asset: usdc,
  spender: permit2Address,
  amount: maxUint256.toString(),
  signedTransaction: await signer.signTransaction({ ...approval, ...transaction }),
  version: '1',
});
const withApproval = (info: JsonObject): JsonObject =>
  change(permit2Exact(), { 'permit.from': key.address, 'paymentPayload.extensions': { erc20ApprovalGasSponsoring: { info } } });

describe('a signed approval for Permit2', () => {
  it('is part of the payment', async () => {
    const info = await approvalInfo();
    expect(paymentOf(withApproval(info)).sponsoring).toEqual({
      type: 'approval',
      raw: info.signedTransaction,
      id: keccak256(info.signedTransaction),
      nonce: 7,
      maxCost: 210_000n,
    });
  });

  it.each<[string, JsonValue, string]>([
    ['from', 'x', 'invalid_erc20_approval_extension_format'],
    ['asset', 5, 'invalid_erc20_approval_extension_format'],
    ['spender', '0x', 'invalid_erc20_approval_extension_format'],
    ['amount', '1.5', 'invalid_erc20_approval_extension_format'],
    ['version', 'v1', 'invalid_erc20_approval_extension_format'],
    ['signedTransaction', 'text', 'invalid_erc20_approval_extension_format'],
    ['signedTransaction', 5, 'invalid_erc20_approval_extension_format'],
    ['from', other, 'erc20_approval_from_mismatch'],
    ['asset', usdt, 'erc20_approval_asset_mismatch'],
    ['spender', other, 'erc20_approval_spender_not_permit2'],
    ['signedTransaction', '0x02', 'erc20_approval_tx_parse_failed'],
    ['signedTransaction', `0x02${'00'.repeat(2_000)}`, 'erc20_approval_tx_parse_failed'],
  ])('%s = %.40j: %s', async (field, value, reason) => {
    expect(verdict(withApproval({ ...(await approvalInfo()), [field]: value }))).toBe(reason);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['another contract', { to: usdt }, 'erc20_approval_tx_wrong_target'],
    ['a new contract', { to: undefined }, 'erc20_approval_tx_wrong_target'],
    ['no calldata', { data: undefined }, 'erc20_approval_tx_wrong_selector'],
    [
      'a transfer',
      { data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [other, 1n] }) },
      'erc20_approval_tx_wrong_selector',
    ],
    ['another spender', { data: approve(other) }, 'erc20_approval_tx_wrong_spender'],
    ['calldata cut short', { data: approve().slice(0, -2) }, 'erc20_approval_tx_invalid_calldata'],
    ['calldata and more', { data: `${approve()}00` }, 'erc20_approval_tx_invalid_calldata'],
    ['too little', { data: approve(permit2Address, 999n) }, 'erc20_approval_tx_invalid_calldata'],
    ['just enough', { data: approve(permit2Address, 1000n) }, 'valid'],
    ['value', { value: 1n }, 'erc20_approval_tx_parse_failed'],
    ['another chain', { chainId: 1 }, 'erc20_approval_tx_parse_failed'],
    [
      'a legacy transaction',
      { type: 'legacy', gasPrice: 3n, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined },
      'erc20_approval_tx_parse_failed',
    ],
    ['an access list', { accessList: [{ address: other, storageKeys: [] }] }, 'erc20_approval_tx_parse_failed'],
    ['too little gas', { gas: 20_999n }, 'erc20_approval_tx_parse_failed'],
    ['too much gas', { gas: 150_001n }, 'erc20_approval_tx_parse_failed'],
    ['the most gas', { gas: 150_000n }, 'valid'],
  ])('%s', async (_, transaction, reason) => {
    expect(verdict(withApproval(await approvalInfo(transaction)))).toBe(reason);
  });

  it('is signed by the payer', async () => {
    expect(verdict(withApproval(await approvalInfo({}, stranger)))).toBe('erc20_approval_tx_signer_mismatch');
    const signature = { r: toHex(0n, { size: 32 }), s: toHex(1n, { size: 32 }), yParity: 0 };
    const unsigned = { ...(await approvalInfo()), signedTransaction: serializeTransaction(approval) };
    expect(verdict(withApproval(unsigned))).toBe('erc20_approval_tx_parse_failed');
    const broken = { ...unsigned, signedTransaction: serializeTransaction(approval, { ...signature, r: toHex(maxUint256) }) };
    expect(verdict(withApproval(broken))).toBe('erc20_approval_tx_invalid_signature');
  });

  it('gives way to a permit', async () => {
    const both = change(withApproval(await approvalInfo()), {
      'paymentPayload.extensions.eip2612GasSponsoring': { info: { ...permitInfo(), from: key.address } },
    });
    expect(paymentOf(both).sponsoring.type).toBe('permit');
  });

  it('is ignored where the caller may not use it', async () => {
    const body = withApproval({ ...(await approvalInfo()), from: other });
    expect(verdict(body, 'verify', { sponsors: { permit: true, approval: false } })).toBe('valid');
  });
});
