import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  parseEther,
  parseSignature,
  toHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { authorizationTypes } from '../../../src/chains/evm/payments/typed-data';
import { loadRegistry } from '../../../src/chains/registry';
import { mintToken, sendNative } from '../../../dev/chain';
import { startTestAnvil, type TestAnvil } from '../../stack/anvil';

jest.setTimeout(60_000);

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function balanceOf(address owner) view returns (uint256)',
  'function nonces(address owner) view returns (uint256)',
  'function transfer(address to, uint256 value)',
]);
const to: Address = '0x00000000000000000000000000000000000A11cE';
const far = 2n ** 40n;

describe('the test tokens', () => {
  const payer = privateKeyToAccount(generatePrivateKey());
  const [usdc, usdt] = loadRegistry('local', ['ethereum'])
    .get('ethereum')
    .tokens.map(({ contract }) => contract) as [Address, Address];
  const domain = { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: usdc };
  let anvil: TestAnvil;
  beforeAll(async () => {
    anvil = await startTestAnvil();
    await Promise.all([
      sendNative(anvil.chain, payer.address, parseEther('1')),
      ...[usdc, usdt].map((token) => mintToken(anvil.chain, token, payer.address, 100n)),
    ]);
  });
  afterAll(() => anvil?.stop());

  const send = async (token: Address, data: Hex): Promise<string> => {
    const wallet = createWalletClient({ account: payer, transport: http(anvil.rpc) });
    const hash = await wallet.sendTransaction({ to: token, data, gas: 200_000n, chain: null });
    return (await anvil.chain.waitForTransactionReceipt({ hash, pollingInterval: 100 })).status;
  };
  const read = (functionName: 'balanceOf' | 'nonces', owner: Address) =>
    anvil.chain.readContract({ address: usdc, abi, functionName, args: [owner] });

  it('USDC is transferred by an EIP-3009 authorisation, once', async () => {
    const message = { from: payer.address, to, value: 30n, validAfter: 0n, validBefore: far, nonce: toHex(7, { size: 32 }) };
    const signature = await payer.signTypedData({
      domain,
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message,
    });
    const { r, s, v = 0n } = parseSignature(signature);
    const common = [message.from, to, 30n, 0n, far, message.nonce] as const;
    const used = () =>
      anvil.chain.readContract({ address: usdc, abi, functionName: 'authorizationState', args: [payer.address, message.nonce] });

    const changed = encodeFunctionData({
      abi,
      functionName: 'transferWithAuthorization',
      args: [message.from, to, 31n, 0n, far, message.nonce, signature],
    });
    expect(await send(usdc, changed)).toBe('reverted');
    expect(await used()).toBe(false);
    expect(
      await send(
        usdc,
        encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args: [...common, Number(v), r, s] }),
      ),
    ).toBe('success');
    expect(await used()).toBe(true);
    expect(
      await send(usdc, encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args: [...common, signature] })),
    ).toBe('reverted');
    expect(await read('balanceOf', to)).toBe(30n);
  });

  it('USDC accepts an EIP-2612 permit, with its nonce', async () => {
    const types = {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    };
    const message = { owner: payer.address, spender: to, value: 5n, nonce: 0n, deadline: far };
    const { r, s, v = 0n } = parseSignature(await payer.signTypedData({ domain, types, primaryType: 'Permit', message }));
    const data = encodeFunctionData({ abi, functionName: 'permit', args: [payer.address, to, 5n, far, Number(v), r, s] });
    expect(await send(usdc, data)).toBe('success');
    expect(await anvil.chain.readContract({ address: usdc, abi, functionName: 'allowance', args: [payer.address, to] })).toBe(5n);
    expect(await read('nonces', payer.address)).toBe(1n);
    expect(await send(usdc, data)).toBe('reverted');
  });

  it('USDC is stopped by a pause and by its blacklist', async () => {
    const switches = parseAbi(['function setPaused(bool value)', 'function setBlacklisted(address account, bool value)']);
    const set = async (functionName: 'setPaused' | 'setBlacklisted', args: never) =>
      expect(await send(usdc, encodeFunctionData({ abi: switches, functionName, args }))).toBe('success');
    const transfer = encodeFunctionData({ abi, functionName: 'transfer', args: [to, 1n] });
    for (const [name, on, off] of [
      ['setPaused', [true], [false]],
      ['setBlacklisted', [to, true], [to, false]],
      ['setBlacklisted', [payer.address, true], [payer.address, false]],
    ] as const) {
      await set(name, on as never);
      expect(await send(usdc, transfer)).toBe('reverted');
      await set(name, off as never);
      expect(await send(usdc, transfer)).toBe('success');
    }
  });

  it('USDT returns nothing', async () => {
    const data = encodeFunctionData({ abi, functionName: 'transfer', args: [to, 1n] });
    expect((await anvil.chain.call({ account: payer.address, to: usdt, data })).data).toBeUndefined();
    expect(await send(usdt, data)).toBe('success');
  });
});
