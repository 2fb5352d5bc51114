import { type Address, concat, createWalletClient, type Hex, http, keccak256, toHex } from 'viem';
import { mintToken } from '../../../dev/chain';
import { OwnAddresses } from '../../../src/accounts/own-addresses';
import { getFamily } from '../../../src/chains/families';
import { encodeSettlement } from '../../../src/chains/evm/payments/calldata';
import { loadRegistry } from '../../../src/chains/registry';
import type { JsonObject } from '../../../src/chains/types';
import { ServedChains } from '../../../src/x402/served';
import { checkPayment } from '../../../src/x402/check';
import { PaymentVerifier } from '../../../src/x402/verify';
import { readPaymentRequest } from '../../../src/x402/wire/request';
import { AttestedKeys } from '../../../src/wallets/attested-keys';
import { buildClient } from '../../factories';
import { nodeKeys } from '../../node-refusals';
import { createTestDatabase, type TestDatabase } from '../../stack/database';
import { placeFactory, walletFactory, walletOf } from '../../wallet-factory';
import { type Kind, signed } from '../../x402';
import { account, type Payers, startPayers, type WalletMode } from '../dev/payers';
import { cases, otherFactory, type Scene } from './official-cases';
import { differences } from './official-differences';
import { officialFacilitator } from './official-facilitator';
import { buildPrimary, paymentsOn, setPolicy } from './seller';

jest.setTimeout(180_000);

/** The verdicts of the gateway compared with those of the official facilitator, on the same chain at the same time. */

const registry = loadRegistry('local', ['base']);
let payers: Payers;
let gateway: TestDatabase;
let scene: Scene;
let ours: (body: JsonObject) => Promise<string>;
let theirs: (body: JsonObject) => Promise<string>;

beforeAll(async () => {
  payers = await startPayers();
  gateway = await createTestDatabase();
  const { primary, verifier, clientId } = await gatewayWithSettler();
  const others = { delegating: account('delegating'), poor: account('poor'), newcomer: account('newcomer') };
  ours = async (body) => {
    const read = readPaymentRequest(body, registry, 'verify');
    const verification = 'reason' in read ? read : await verifier.verify(clientId, read.request);
    return 'reason' in verification ? verification.reason : 'valid';
  };
  const official = officialFacilitator(payers.anvil.rpc, primary, [walletFactory]);
  // what it throws, the reference server answers 500
  theirs = (body) => official(body).catch(() => 'throws');
  const { chain } = payers.anvil;
  for (const { address: owner } of [others.delegating, others.newcomer]) await mintToken(chain, payers.usdc, owner, 1_000_000n);
  await chain.setCode({ address: others.delegating.address, bytecode: concat(['0xef0100', payers.wallet]) });
  await allowPermit2(others.delegating.address);
  // for its approval: the house gives nothing here
  await chain.setBalance({ address: others.newcomer.address, value: 10n ** 18n });
  const used = await executed(primary);
  const created = await createdAndNot();
  // nothing changes from here on, so that both see the same time
  await chain.setIntervalMining({ interval: 0 });
  const now = Number((await chain.getBlock()).timestamp);
  jest.spyOn(Date, 'now').mockReturnValue(now * 1000);
  scene = {
    now,
    facilitator: primary,
    payer: payers.payer,
    wallet: payers.wallet,
    walletIn: await walletsInModes(),
    ...created,
    ...others,
    used,
  };
});
afterAll(async () => {
  jest.restoreAllMocks();
  await gateway?.drop();
  await payers?.anvil.stop();
});

async function gatewayWithSettler() {
  const { database } = gateway;
  const primary = await buildPrimary(database);
  const { clientId } = await buildClient(database);
  await setPolicy(database, { clientId }, { sponsors: true, walletFactories: [walletFactory] });
  const silent = { error: () => undefined };
  const addresses = new OwnAddresses(new AttestedKeys(nodeKeys, silent), getFamily, silent);
  const served = new ServedChains({ database, registry, payments: paymentsOn(payers.anvil.rpc), addresses });
  return { primary, clientId, verifier: new PaymentVerifier({ database, getFamily, served }) };
}

/** For the delegating account, whose approvals no key of a test sends. */
async function allowPermit2(owner: Address): Promise<void> {
  const { chain } = payers.anvil;
  await chain.impersonateAccount({ address: owner });
  await chain.setBalance({ address: owner, value: 10n ** 18n });
  const approve = concat([
    '0x095ea7b3',
    toHex(0x000000000022d473030f116ddee9f6b43ac78ba3n, { size: 32 }),
    toHex(2n ** 256n - 1n, { size: 32 }),
  ]);
  const client = createWalletClient({ account: owner, transport: http(payers.anvil.rpc) });
  const hash = await client.sendTransaction({ to: payers.usdc, data: approve, chain: null });
  await chain.waitForTransactionReceipt({ hash, pollingInterval: 100 });
}

/** One payment of each kind, settled. */
async function executed(settler: Address): Promise<Scene['used']> {
  const { chain, rpc } = payers.anvil;
  await chain.impersonateAccount({ address: settler });
  await chain.setBalance({ address: settler, value: 10n ** 18n });
  const sender = createWalletClient({ account: settler, transport: http(rpc) });
  const settle = async (kind: Kind): Promise<JsonObject> => {
    const body = await signed({ kind, payer: payers.payer, facilitator: settler });
    const read = readPaymentRequest(body, registry, 'verify');
    if ('reason' in read) throw new Error(read.reason);
    const context = {
      ...{ now: Math.floor(Date.now() / 1000), settlers: new Set([settler.toLowerCase()]) },
      ...{ sponsors: { permit: false, approval: false }, walletFactories: new Set<string>() },
    };
    const checked = checkPayment(read.request, context);
    if ('reason' in checked) throw new Error(checked.reason);
    const call = encodeSettlement(checked.payment, checked.payment.amount);
    const hash = await sender.sendTransaction({ ...call, to: call.to, gas: 500_000n, chain: null });
    expect((await chain.waitForTransactionReceipt({ hash, pollingInterval: 100 })).status).toBe('success');
    return body;
  };
  return {
    'eip3009 V1': await settle('eip3009 V1'),
    eip3009: await settle('eip3009'),
    permit2: await settle('permit2'),
    upto: await settle('upto'),
  };
}

/** Wallets with tokens that the factory has created, and one that it has not. */
async function createdAndNot(): Promise<Pick<Scene, 'uncreated' | 'created' | 'createdOnce'>> {
  const { chain } = payers.anvil;
  for (const address of [walletFactory, otherFactory]) await placeFactory(chain, address);
  const [uncreated, created, createdOnce] = await Promise.all([
    walletOf(payers.payer.address, 'not created'),
    walletOf(payers.payer.address, 'created'),
    walletOf(payers.payer.address, 'created once', 'createOnce'),
  ]);
  for (const { address } of [uncreated, created, createdOnce]) await mintToken(chain, payers.usdc, address, 1_000_000n);
  for (const { data } of [created, createdOnce]) expect(await payers.send(walletFactory, data)).toBe('success');
  return { uncreated, created, createdOnce };
}

/** The code of the wallet at other addresses; its first slot is the mode. */
async function walletsInModes(): Promise<Scene['walletIn']> {
  const { chain } = payers.anvil;
  const bytecode = (await chain.getCode({ address: payers.wallet })) as Hex;
  const modes: WalletMode[] = ['CheckOwner', 'Refuse', 'OtherAnswer', 'Revert', 'BurnGas', 'ShortAnswer', 'InvalidOpcode'];
  const made = modes.map(async (mode, index) => {
    const address: Address = `0x${keccak256(toHex(`wallet in mode ${mode}`)).slice(26)}`;
    await chain.setCode({ address, bytecode });
    await chain.setStorageAt({ address, index: 0, value: toHex(index, { size: 32 }) });
    return [mode, address] as const;
  });
  return Object.fromEntries(await Promise.all(made)) as Scene['walletIn'];
}

test('there are at least 150 cases, each of its own name, and every difference is one of them', () => {
  const names = new Set(cases.map(({ name }) => name));
  expect(names.size).toBe(cases.length);
  expect(names.size).toBeGreaterThanOrEqual(150);
  for (const [name, { ours: our, theirs: their, why }] of Object.entries(differences)) {
    expect([...names]).toContain(name);
    expect(our).not.toBe(their);
    expect(why).toMatch(/\.$/);
  }
});

test.each(cases.map(({ name, body }) => [name, body] as const))('%s', async (name, body) => {
  const made = await body(scene);
  const [our, their] = [await ours(made), await theirs(made)];
  const { ours: expected = our, theirs: official = our } = differences[name] ?? {};
  expect({ our, their }).toEqual({ our: expected, their: official });
});
