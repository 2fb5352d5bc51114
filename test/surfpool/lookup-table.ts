import {
  AccountRole,
  address,
  type Address,
  appendTransactionMessageInstructions,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getProgramDerivedAddress,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { lookupTables, programs } from '../../dev/solana/parameters';
import { u32, u64 } from '../solana-bytes';
import type { Signed } from '../solana-chain';
import type { SurfpoolChain } from './chain';

/** Solana's documents, "Address lookup tables" (solana-address-lookup-table-interface: CreateLookupTable, ExtendLookupTable). */
const program = address(lookupTables);

/** A table with these addresses, which later blocks may use. */
export async function createTable(chain: SurfpoolChain, owner: KeyPairSigner, addresses: string[]): Promise<Address> {
  const slot = await chain.rpc.getSlot({ commitment: 'finalized' }).send();
  const seeds = [getAddressEncoder().encode(owner.address), u64(slot)];
  const [table, bump] = await getProgramDerivedAddress({ programAddress: program, seeds });
  const accounts = [
    { address: table, role: AccountRole.WRITABLE },
    { address: owner.address, role: AccountRole.READONLY_SIGNER },
    { address: owner.address, role: AccountRole.WRITABLE_SIGNER },
    { address: address(programs.system), role: AccountRole.READONLY },
  ];
  const keys = addresses.map((key) => Buffer.from(getAddressEncoder().encode(address(key))));
  const instructions: Instruction[] = [
    { programAddress: program, accounts, data: new Uint8Array(Buffer.concat([u32(0), u64(slot), Buffer.from([bump])])) },
    {
      programAddress: program,
      accounts,
      data: new Uint8Array(Buffer.concat([u32(2), u64(BigInt(keys.length)), ...keys])),
    },
  ];
  await chain.sendChecked(await chain.sign(owner, instructions));
  await chain.mine();
  return table;
}

/** Version 0, with every account that is in the table and does not sign named by its place there. */
export async function signWithTable(
  chain: SurfpoolChain,
  payer: KeyPairSigner,
  instructions: Instruction[],
  tables: Record<Address, Address[]>,
): Promise<Signed> {
  const lifetime = await chain.lifetime();
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (made) => setTransactionMessageFeePayerSigner(payer, made),
    (made) => setTransactionMessageLifetimeUsingBlockhash(lifetime, made),
    (made) => appendTransactionMessageInstructions(instructions, made),
    (made) => compressTransactionMessageUsingAddressLookupTables(made, tables),
  );
  const signed = await signTransactionMessageWithSigners(message);
  return { wire: getBase64EncodedWireTransaction(signed), id: getSignatureFromTransaction(signed) };
}
