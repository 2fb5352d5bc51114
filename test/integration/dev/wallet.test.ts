import { type Address, concat, createWalletClient, encodeFunctionData, type Hex, http, parseAbi, parseEther, toHex } from 'viem';
import { mintToken, sendNative } from '../../../dev/chain';
import { eip3009Abi } from '../../../src/chains/evm/payments/contracts';
import { authorizationDigest } from '../../../src/chains/evm/payments/typed-data';
import { account, type Payers, startPayers, takenByMode } from './payers';

jest.setTimeout(120_000);

const to: Address = '0x00000000000000000000000000000000000A11cE';
const erc1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
const hash = toHex('what is signed', { size: 32 });

let payers: Payers;
beforeAll(async () => {
  payers = await startPayers();
});
afterAll(() => payers?.anvil.stop());

/** Whether test USDC would execute an authorisation of `from`, signed by `signer`. */
async function isTaken(from: Address, signer: ReturnType<typeof account>): Promise<boolean> {
  const message = { from, to, value: 5n, validAfter: 0n, validBefore: 2n ** 40n, nonce: toHex(9, { size: 32 }) };
  const domain = { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: payers.usdc };
  const signature = await signer.sign({ hash: authorizationDigest(domain, message) });
  const args = [from, to, 5n, 0n, 2n ** 40n, message.nonce, signature] as const;
  const data = encodeFunctionData({ abi: eip3009Abi, functionName: 'transferWithAuthorization', args });
  return payers.anvil.chain.call({ to: payers.usdc, data, gas: 500_000n }).then(
    () => true,
    () => false,
  );
}

describe('the contract wallet', () => {
  const ask = async (signature: Hex) =>
    payers.anvil.chain.readContract({
      address: payers.wallet,
      abi: erc1271,
      functionName: 'isValidSignature',
      args: [hash, signature],
    });

  it('accepts a signature of its owner and no other', async () => {
    expect(await ask(await payers.payer.sign({ hash }))).toBe('0x1626ba7e');
    expect(await ask(await account('other').sign({ hash }))).toBe('0xffffffff');
    expect(await ask('0x')).toBe('0xffffffff');
    expect(await isTaken(payers.wallet, payers.payer)).toBe(true);
    expect(await isTaken(payers.wallet, account('other'))).toBe(false);
  });

  it.each(takenByMode)('in mode %s the token takes its authorisation: %s', async (mode, taken) => {
    await payers.setMode(mode);
    expect(await isTaken(payers.wallet, payers.payer)).toBe(taken);
  });
});

describe('an account that delegates to the wallet (EIP-7702)', () => {
  it('is asked like a contract, and is its own owner', async () => {
    const delegate = account('delegating');
    await mintToken(payers.anvil.chain, payers.usdc, delegate.address, 100n);
    expect(await isTaken(delegate.address, delegate)).toBe(true);
    await payers.anvil.chain.setCode({ address: delegate.address, bytecode: concat(['0xef0100', payers.wallet]) });
    expect(await isTaken(delegate.address, delegate)).toBe(true);
    expect(await isTaken(delegate.address, payers.payer)).toBe(false);
  });

  it('can delegate by a transaction', async () => {
    const delegate = account('delegating by a transaction');
    await sendNative(payers.anvil.chain, delegate.address, parseEther('1'));
    const client = createWalletClient({ account: delegate, transport: http(payers.anvil.rpc) });
    const authorization = await client.signAuthorization({ contractAddress: payers.wallet, executor: 'self' });
    const sent = await client.sendTransaction({
      authorizationList: [authorization],
      to: delegate.address,
      chain: null,
      gas: 200_000n,
    });
    await payers.anvil.chain.waitForTransactionReceipt({ hash: sent, pollingInterval: 100 });
    const code = await payers.anvil.chain.getCode({ address: delegate.address });
    expect(code).toBe(concat(['0xef0100', payers.wallet]).toLowerCase());
  });
});
