import {
  type AccountLookupMeta,
  type AccountMeta,
  AccountRole,
  address,
  generateKeyPairSigner,
  getAddressEncoder,
  type Instruction,
} from '@solana/kit';
import { lookupTables } from '../dev/solana/parameters';
import type { TestChain } from './solana-chain';

const named = ({ accounts = [] }: Instruction): AccountMeta[] =>
  (accounts as AccountMeta[]).filter(({ role }) => role === AccountRole.READONLY || role === AccountRole.WRITABLE);

/** The same instructions, with every account that signs nothing named by a new lookup table (address-lookup-table-interface, state.rs). */
export async function throughTable(chain: TestChain, instructions: Instruction[]): Promise<Instruction[]> {
  const addresses = [...new Set(instructions.flatMap(named).map((meta) => meta.address))];
  const header = Buffer.alloc(56);
  header.writeUInt32LE(1, 0);
  // not deactivated
  header.writeBigUInt64LE(2n ** 64n - 1n, 4);
  const entries = addresses.map((key) => Buffer.from(getAddressEncoder().encode(key)));
  const lookupTableAddress = (await generateKeyPairSigner()).address;
  const data = Buffer.concat([header, ...entries]).toString('base64');
  const table = { address: lookupTableAddress, lamports: '1000000000', data, owner: address(lookupTables) };
  await chain.client.call('account', table);
  return instructions.map((instruction) => {
    const own = new Set(named(instruction));
    const accounts = ((instruction.accounts ?? []) as AccountMeta[]).map((meta): AccountMeta | AccountLookupMeta =>
      own.has(meta)
        ? { ...(meta as AccountLookupMeta), lookupTableAddress, addressIndex: addresses.indexOf(meta.address) }
        : meta,
    );
    return { ...instruction, accounts };
  });
}
