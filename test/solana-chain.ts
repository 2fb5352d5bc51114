import { ed25519 } from '@noble/curves/ed25519.js';
import {
  AccountRole,
  address,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase58Decoder,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  type Signature,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { associatedTokenAddress } from '../dev/solana/addresses';
import { type LocalChain, type LocalChainOptions, startLocalChain } from '../dev/solana/local-chain';
import { defaultTokens, programs } from '../dev/solana/parameters';
import { LocalChainClient } from '../dev/solana/stack';
import { signAnew } from './ed25519';

export const usdc = defaultTokens.USDC as string;
export const sol = (amount: number): bigint => BigInt(Math.round(amount * 1_000_000_000));

interface Lifetime {
  blockhash: Blockhash;
  lastValidBlockHeight: bigint;
}
export interface Signed {
  wire: ReturnType<typeof getBase64EncodedWireTransaction>;
  id: Signature;
}

const started = new Set<LocalChain>();
const bytes = (kind: number[], amount: bigint, ...more: number[]): Uint8Array => {
  const number = Buffer.alloc(8);
  number.writeBigUInt64LE(amount);
  return new Uint8Array([...kind, ...number, ...more]);
};

export const transferSol = (from: Address, to: string, amount: bigint): Instruction => ({
  programAddress: address(programs.system),
  accounts: [
    { address: from, role: AccountRole.WRITABLE_SIGNER },
    { address: address(to), role: AccountRole.WRITABLE },
  ],
  data: bytes([2, 0, 0, 0], amount),
});

/** TransferChecked between the associated accounts. */
export async function transferToken(
  from: Address,
  to: string,
  amount: bigint,
  mint = usdc,
  program: string = programs.token,
): Promise<Instruction> {
  return {
    programAddress: address(program),
    accounts: [
      { address: await associatedTokenAddress(from, mint, program), role: AccountRole.WRITABLE },
      { address: address(mint), role: AccountRole.READONLY },
      { address: await associatedTokenAddress(to, mint, program), role: AccountRole.WRITABLE },
      { address: from, role: AccountRole.READONLY_SIGNER },
    ],
    data: bytes([12], amount, 6),
  };
}

/** Creates the owner's associated account, if there is none. */
export async function createAssociated(
  payer: Address,
  owner: string,
  mint = usdc,
  program: string = programs.token,
): Promise<Instruction> {
  return {
    programAddress: address(programs.associatedToken),
    accounts: [
      { address: payer, role: AccountRole.WRITABLE_SIGNER },
      { address: await associatedTokenAddress(owner, mint, program), role: AccountRole.WRITABLE },
      ...[owner, mint, programs.system, program].map((key) => ({ address: address(key), role: AccountRole.READONLY })),
    ],
    data: new Uint8Array([1]),
  };
}

/** CloseAccount of the Token program: what the owner's associated account of USDC has of SOL goes to somebody. */
export const closeAssociated = async (owner: Address, to: string): Promise<Instruction> => ({
  programAddress: address(programs.token),
  accounts: [
    { address: await associatedTokenAddress(owner, usdc, programs.token), role: AccountRole.WRITABLE },
    { address: address(to), role: AccountRole.WRITABLE },
    { address: owner, role: AccountRole.READONLY_SIGNER },
  ],
  data: new Uint8Array([9]),
});

export const unitPrice = (microLamports: bigint): Instruction => ({
  programAddress: address(programs.computeBudget),
  data: bytes([3], microLamports),
});

/** The same message with another signature. */
export function signedAnew(wire: Signed['wire'], secret: Uint8Array): Signed {
  const sent = Buffer.from(wire, 'base64');
  const message = sent.subarray(65);
  const signature = signAnew(message, secret);
  const bytes = Buffer.concat([sent.subarray(0, 1), signature, message]);
  return { wire: bytes.toString('base64') as Signed['wire'], id: getBase58Decoder().decode(signature) as Signature };
}

export type RunningChain = Pick<LocalChain, 'url' | 'stop'>;

/** A local chain that makes blocks only when it is told to, or another node in its place. */
export class TestChain<Local extends RunningChain = LocalChain> {
  readonly rpc: ReturnType<typeof createSolanaRpc>;

  protected constructor(
    readonly local: Local,
    readonly client: LocalChainClient = new LocalChainClient(local.url),
  ) {
    this.rpc = createSolanaRpc(local.url);
  }

  static async start(options: Partial<LocalChainOptions> = {}): Promise<TestChain> {
    const local = await startLocalChain({ isMining: false, ...options });
    started.add(local);
    return new TestChain(local);
  }

  at(endpoint: string): ReturnType<typeof createSolanaRpc> {
    return createSolanaRpc(`${this.local.url}/endpoint/${endpoint}`);
  }

  mine(blocks = 1): Promise<unknown> {
    return this.client.call('mine', { blocks });
  }

  async funded(lamports = sol(10), tokens = 0n): Promise<KeyPairSigner> {
    const signer = await generateKeyPairSigner();
    await this.client.fund(signer.address, lamports);
    if (tokens > 0n) await this.client.fundToken('USDC', signer.address, tokens);
    return signer;
  }

  /** A holder whose key the test has. */
  async ownSigner(lamports: bigint): Promise<{ secret: Uint8Array; holder: KeyPairSigner }> {
    const secret = ed25519.utils.randomSecretKey();
    const holder = await createKeyPairSignerFromPrivateKeyBytes(secret);
    await this.client.fund(holder.address, lamports);
    return { secret, holder };
  }

  async lifetime(): Promise<Lifetime> {
    return (await this.rpc.getLatestBlockhash({ commitment: 'processed' }).send()).value;
  }

  async sign(payer: KeyPairSigner, instructions: Instruction[], given?: Lifetime, version: 'legacy' | 0 = 0): Promise<Signed> {
    const lifetime = given ?? (await this.lifetime());
    const message = pipe(
      createTransactionMessage({ version }),
      (made) => setTransactionMessageFeePayerSigner(payer, made),
      (made) => setTransactionMessageLifetimeUsingBlockhash(lifetime, made),
      (made) => appendTransactionMessageInstructions(instructions, made),
    );
    const signed = await signTransactionMessageWithSigners(message);
    return { wire: getBase64EncodedWireTransaction(signed), id: getSignatureFromTransaction(signed) };
  }

  /** Without a simulation before. */
  send({ wire }: Pick<Signed, 'wire'>, rpc = this.rpc): Promise<Signature> {
    return rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send();
  }

  async sendChecked({ wire }: Pick<Signed, 'wire'>): Promise<Signature> {
    return this.rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' }).send();
  }

  async status(id: Signature, rpc = this.rpc) {
    return (await rpc.getSignatureStatuses([id], { searchTransactionHistory: true }).send()).value[0];
  }

  async balance(key: string, commitment: 'processed' | 'confirmed' | 'finalized' = 'processed'): Promise<bigint> {
    return (await this.rpc.getBalance(address(key), { commitment }).send()).value;
  }

  /** Also those of tests that failed. */
  static async stopAll(): Promise<void> {
    await Promise.all([...started].map((local) => local.stop()));
    started.clear();
  }
}
