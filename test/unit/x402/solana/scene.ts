import { ed25519 } from '@noble/curves/ed25519.js';
import {
  AccountRole,
  address,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { associatedTokenAddress } from '../../../../dev/solana/addresses';
import { programs } from '../../../../dev/solana/parameters';
import { ChainRegistry } from '../../../../src/chains/registry';
import { solana } from '../../../../src/chains/registry/solana';
import type { ChainDefinition, JsonObject } from '../../../../src/chains/types';
import { u32, u64 } from '../../../solana-bytes';
import { createAssociated, sol, TestChain, transferToken, usdc } from '../../../solana-chain';

export const [chainDefinition] = solana.local as [ChainDefinition];
/** As the types of the official packages have it. */
export const caip2 = chainDefinition.caip2 as `solana:${string}`;
export const registry = new ChainRegistry([chainDefinition]);

export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
export const lighthouse = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';

/** Whose key the test has. */
export interface Holder {
  secret: Uint8Array;
  address: Address;
  signer: KeyPairSigner;
}

export interface Scene {
  chain: TestChain;
  settler: Holder;
  payer: Holder;
  /** Has a token account and nothing in it. */
  poor: Holder;
  /** May use up what the payer has allowed. */
  delegate: Holder;
  stranger: Holder;
  /** Has a token account; the other one has none. */
  seller: Address;
  newcomer: Address;
  /** Under Token-2022, and one that the registry does not have. */
  mint2022: Address;
  unknownMint: Address;
  blockhash: string;
  oldBlockhash: string;
}

export async function makeHolder(chain: Pick<TestChain, 'client'>, tokens = 0n): Promise<Holder> {
  const secret = ed25519.utils.randomSecretKey();
  const signer = await createKeyPairSignerFromPrivateKeyBytes(secret);
  await chain.client.fund(signer.address, sol(1));
  if (tokens > 0n) await chain.client.fundToken('USDC', signer.address, tokens);
  return { secret, signer, address: signer.address };
}

/** A local chain on which nothing happens any more. */
export async function makeScene(): Promise<Scene> {
  const chain = await TestChain.start({ confirmed: 1, finalized: 2, skipEvery: 0 });
  const { blockhash: oldBlockhash } = await chain.lifetime();
  await chain.mine(200);
  const [settler, payer, seller] = [
    await makeHolder(chain),
    await makeHolder(chain, 1_000_000n),
    await makeHolder(chain, 1_000n),
  ];
  const [poor, delegate, stranger] = [await makeHolder(chain), await makeHolder(chain), await makeHolder(chain)];
  const newcomer = await makeHolder(chain);
  const [mint2022, unknownMint] = [await copyMint(chain, programs.token2022), await copyMint(chain, programs.token)];
  for (const mint of [mint2022, unknownMint])
    for (const owner of [payer, seller]) await chain.client.fundToken(mint, owner.address, 1_000_000n);
  const approved = await approve(payer, delegate.address);
  const created = await Promise.all([poor, delegate].map((owner) => createAssociated(payer.address, owner.address)));
  await chain.send(await chain.sign(payer.signer, [approved, ...created]));
  await copyProgram(chain, memoProgram, lighthouse);
  await chain.mine(5);
  const { blockhash } = await chain.lifetime();
  await chain.mine(3);
  return {
    ...{ chain, settler, payer, poor, delegate, stranger, seller: seller.address, newcomer: newcomer.address },
    ...{ mint2022, unknownMint, blockhash, oldBlockhash },
  };
}

async function copyMint(chain: TestChain, program: string): Promise<Address> {
  const { address: mint } = await makeHolder(chain);
  const { value } = await chain.rpc.getAccountInfo(address(usdc), { encoding: 'base64', commitment: 'processed' }).send();
  await chain.client.call('account', { address: mint, lamports: String(sol(1)), data: value?.data[0], owner: program });
  return mint;
}

/** The chain has no Lighthouse: something that takes text and moves nothing stands in its place. */
async function copyProgram(chain: TestChain, from: string, to: string): Promise<void> {
  const { value } = await chain.rpc.getAccountInfo(address(from), { encoding: 'base64', commitment: 'processed' }).send();
  if (!value) throw new Error(`${from} is not there`);
  const data = Buffer.from(value.data[0], 'base64');
  chain.local.chain.change(to, { lamports: value.lamports, data, owner: value.owner, executable: true });
}

/** Approve of the Token program. */
async function approve({ address: owner }: Holder, to: Address): Promise<Instruction> {
  const amount = Buffer.alloc(8);
  amount.writeBigUInt64LE(500_000n);
  return {
    programAddress: address(programs.token),
    accounts: [
      { address: await associatedTokenAddress(owner, usdc, programs.token), role: AccountRole.WRITABLE },
      { address: to, role: AccountRole.READONLY },
      { address: owner, role: AccountRole.READONLY_SIGNER },
    ],
    data: new Uint8Array([4, ...amount]),
  };
}

export interface Offer {
  instructions: Instruction[];
  feePayer?: Address;
  blockhash?: string;
  version?: 'legacy' | 0;
  /** Who signs; in no order. */
  by?: Holder[];
  /** Before it is signed, and after. */
  changeMessage?: (message: Buffer) => Buffer;
  changeWire?: (wire: Buffer) => Buffer;
}

/** What a payer sends: Base64 of a transaction without the signature of its fee payer. */
export function offer(
  scene: Pick<Scene, 'settler' | 'payer' | 'blockhash'>,
  { instructions, changeMessage, changeWire, by = [scene.payer], ...more }: Offer,
): string {
  const { feePayer = scene.settler.address, blockhash = scene.blockhash, version = 0 } = more;
  const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n };
  const { messageBytes, signatures } = compileTransaction(
    pipe(
      createTransactionMessage({ version }),
      (made) => setTransactionMessageFeePayer(feePayer, made),
      (made) => setTransactionMessageLifetimeUsingBlockhash(lifetime, made),
      (made) => appendTransactionMessageInstructions(instructions, made),
    ),
  );
  const compiled = Buffer.from(messageBytes);
  const message = changeMessage ? changeMessage(compiled) : compiled;
  const signed = Object.keys(signatures).map((signer) => {
    const holder = by.find((it) => it.address === signer);
    return holder ? ed25519.sign(message, holder.secret) : Buffer.alloc(64);
  });
  const wire = Buffer.concat([Buffer.from([signed.length]), ...signed, message]);
  return (changeWire ? changeWire(wire) : wire).toString('base64');
}

/** The message of a signed transaction names the payer at the same place, but as no signer: the settler alone is to sign. */
export function withOneSigner(wire: Buffer): Buffer {
  const message = Buffer.from(wire.subarray(1 + 2 * 64));
  // of version 0: signers, and those of them that are read-only
  message.set([1, 0], 1);
  return Buffer.concat([Buffer.from([1]), wire.subarray(1, 65), message]);
}

export const budget = (...parts: (Buffer | number)[]): Instruction => ({
  programAddress: address(programs.computeBudget),
  data: new Uint8Array(Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : part)))),
});
export const limit = (units = 20_000): Instruction => budget(2, u32(units));
export const price = (microLamports = 1n): Instruction => budget(3, u64(microLamports));
export const memo = (text = '0123456789abcdef0123456789abcdef', ...accounts: Address[]): Instruction => ({
  programAddress: address(memoProgram),
  accounts: accounts.map((key) => ({ address: key, role: AccountRole.READONLY })),
  data: new Uint8Array(Buffer.from(text)),
});
export const check = (): Instruction => ({ programAddress: address(lighthouse), data: new Uint8Array(Buffer.from('check')) });
export const pay = (scene: Pick<Scene, 'payer' | 'seller'>, amount = 1_000n): Promise<Instruction> =>
  transferToken(scene.payer.address, scene.seller, amount);

interface Terms {
  seller: string;
  settler: { address: string };
}

/** What is asked for; the amount has another name in version 1. */
export const terms = (scene: Terms, version: 1 | 2): JsonObject => ({
  ...{ scheme: 'exact', network: version === 1 ? 'solana' : caip2, asset: usdc, payTo: scene.seller, maxTimeoutSeconds: 60 },
  ...(version === 1
    ? { maxAmountRequired: '1000', resource: 'https://seller.example/', description: '', mimeType: '' }
    : { amount: '1000' }),
  extra: { feePayer: scene.settler.address },
});

/** The body of /verify. @param accepted in version 1: what the payer states */
export function bodyOf(version: 1 | 2, payload: JsonObject, required: JsonObject, accepted: JsonObject = {}): JsonObject {
  const { scheme = null, network = null } = required;
  const stated: JsonObject = version === 1 ? { scheme, network, ...accepted } : { accepted: { ...required, ...accepted } };
  return { x402Version: version, paymentPayload: { x402Version: version, ...stated, payload }, paymentRequirements: required };
}
