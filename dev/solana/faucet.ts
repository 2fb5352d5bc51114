/** Gives SOL and tokens by ordinary transactions, signed by the faucet's key. */
import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  createTransactionMessage,
  getTransactionEncoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { readDecimals } from './accounts';
import { associatedTokenAddress } from './addresses';
import type { Chain } from './chain';
import { faucetSigner } from './genesis';
import { programs } from './parameters';
import { type Decoded, decodeTransaction } from './transactions';

/** The faucet cannot do that; the message says why. */
export class FaucetRefusal extends Error {}

let given = 0;

const data = (kind: number[], ...amounts: bigint[]): Uint8Array => {
  const numbers = amounts.map((amount) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(amount);
    return bytes;
  });
  return new Uint8Array(Buffer.concat([Buffer.from(kind), ...numbers]));
};

/** @param lamports at least what keeps a new account free of rent */
export async function giveSol(chain: Chain, to: string, lamports: bigint): Promise<Decoded> {
  const faucet = await faucetSigner();
  const transfer: Instruction = {
    programAddress: address(programs.system),
    accounts: [
      { address: faucet.address, role: AccountRole.WRITABLE_SIGNER },
      { address: address(to), role: AccountRole.WRITABLE },
    ],
    data: data([2, 0, 0, 0], lamports),
  };
  return send(chain, [transfer]);
}

/** Mints to the owner's associated token account, which is created if there is none. @param amount atomic units */
export async function giveToken(chain: Chain, mint: string, owner: string, amount: bigint): Promise<Decoded> {
  const account = chain.svm.get(mint);
  if (!account || readDecimals(account) === undefined) throw new FaucetRefusal('no such token');
  const faucet = await faucetSigner();
  const associated = await associatedTokenAddress(owner, mint, account.owner);
  const create: Instruction = {
    programAddress: address(programs.associatedToken),
    accounts: [
      { address: faucet.address, role: AccountRole.WRITABLE_SIGNER },
      { address: associated, role: AccountRole.WRITABLE },
      ...[owner, mint, programs.system, account.owner].map((key) => ({ address: address(key), role: AccountRole.READONLY })),
    ],
    data: data([1]),
  };
  const mintTo: Instruction = {
    programAddress: address(account.owner),
    accounts: [
      { address: address(mint), role: AccountRole.WRITABLE },
      { address: associated, role: AccountRole.WRITABLE },
      { address: faucet.address, role: AccountRole.READONLY_SIGNER },
    ],
    data: data([7], amount),
  };
  return send(chain, [create, mintTo]);
}

async function send(chain: Chain, instructions: Instruction[]): Promise<Decoded> {
  // another limit each time, else two gifts of the same in one block were one transaction
  const limit = Buffer.alloc(5);
  limit.writeUInt8(2, 0);
  limit.writeUInt32LE(200_000 + (given++ % 100_000), 1);
  const units: Instruction = { programAddress: address(programs.computeBudget), data: new Uint8Array(limit) };
  const faucet = await faucetSigner();
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (made) => setTransactionMessageFeePayerSigner(faucet, made),
    (made) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash(chain.head.hash), lastValidBlockHeight: BigInt(chain.head.height) },
        made,
      ),
    (made) => appendTransactionMessageInstructions([units, ...instructions], made),
  );
  const signed = await signTransactionMessageWithSigners(message);
  const decoded = decodeTransaction(Buffer.from(getTransactionEncoder().encode(signed)));
  const { err } = chain.svm.simulate(decoded, true);
  if (err !== null) throw new FaucetRefusal(`the faucet's transaction would fail: ${JSON.stringify(err)}`);
  chain.submit(decoded, Infinity);
  return decoded;
}
