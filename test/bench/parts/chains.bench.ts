import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Transaction } from 'bitcoinjs-lib';
import { regtest } from '../../../src/chains/bitcoin/network';
import { scanBlock } from '../../../src/chains/bitcoin/scan';
import { depositAddresses } from '../../../src/deposits/record';
import { bitcoinCodec, buildBitcoin, coin, localBitcoin, signDigests } from '../../bitcoin';
import { toBlock } from '../../bitcoin-blocks';
import { buildClient, buildWallet } from '../../factories';
import { createTestDatabase } from '../../stack/database';
import { percentiles, round } from '../load';

const watched = 1_000_000;
const outputs = 5_000;
const blockBytes = 4_000_000;
const rounds = 20;
const chain = localBitcoin();

/** 5,000 outputs to distinct P2WPKH addresses, one in a hundred of them watched, each of a transaction whose witness fills the block. */
function fullBlock(): Buffer {
  const filling = Math.floor(blockBytes / outputs) - 90;
  const transactions = Array.from({ length: outputs }, (_, index) => {
    const transaction = new Transaction();
    transaction.addInput(Uint8Array.from(Buffer.alloc(32, 1 + (index % 251))), index);
    transaction.setWitness(0, [Buffer.alloc(filling, 1), Buffer.from('51', 'hex')]);
    const number = (index % 100 === 0 ? index : watched + index).toString(16).padStart(40, '0');
    transaction.addOutput(Uint8Array.from(Buffer.from(`0014${number}`, 'hex')), 10_000n);
    return transaction;
  });
  return Buffer.from(toBlock(transactions).toBuffer());
}

/** Milliseconds of the follower's process, with the look-up in Postgres: decoding the block, and finding whose outputs it has. */
test('a full Bitcoin block against a million watched addresses', async () => {
  const testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  const wallet = await buildWallet(database, await buildClient(database));
  await database.query(
    `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key, key_id, key_protocol,
       derivation_path, address_index)
     select gen_random_uuid(), $1, $2, $3, 'bitcoin', 'local', 'a' || n, '0014' || lpad(to_hex(n), 40, '0'), 'k', 'ecdsa-secp256k1',
       'm/0/' || n, n from generate_series(0, $4::int - 1) n`,
    [wallet.walletId, wallet.clientId, chain.family, watched],
  );
  await database.query('analyze accounts');
  const bytes = fullBlock();
  const [all, lookUps]: [number[], number[]] = [[], []];
  for (let count = 0; count < rounds; count += 1) {
    const began = performance.now();
    const { deposits } = await scanBlock(regtest, chain, 1, bytes, async (keys) => {
      const asked = performance.now();
      const found = await depositAddresses(database.manager, chain.family, keys);
      lookUps.push(performance.now() - asked);
      return found;
    });
    all.push(performance.now() - began);
    expect(deposits).toHaveLength(outputs / 100);
  }
  process.stdout.write(
    `${JSON.stringify({ bench: 'bitcoin block', bytes: bytes.length, outputs, watched, scan_ms: percentiles(all), look_up_ms: percentiles(lookUps) })}\n`,
  );
  await testDatabase.drop();
}, 300_000);

/** Milliseconds of one process for what the gateway itself does with a transfer's bytes; the signatures are those of one key. */
test.each([1, 5, 20])('building, describing and assembling a Bitcoin transaction with %d inputs', (inputs) => {
  const key = Uint8Array.from(Buffer.alloc(32, 3));
  const { address: from } = bitcoinCodec.address(secp256k1.getPublicKey(key, true));
  const to = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
  const plan = { kind: 'first' as const, from, payments: [{ to, amount: 5_000n }], fee: 10_000n };
  const [build, describe, assemble]: [number[], number[], number[]] = [[], [], []];
  for (let count = 0; count < rounds; count += 1) {
    const coins = Array.from({ length: inputs }, (_, index) => coin(count * 100 + index, 100_000n));
    const times = [performance.now()];
    const unsigned = buildBitcoin({ ...plan, coins });
    times.push(performance.now());
    bitcoinCodec.describe(unsigned);
    const digests = bitcoinCodec.signingPayloads(unsigned, from).map(({ digest }) => digest);
    times.push(performance.now());
    const signatures = signDigests(digests, key);
    const signedAt = performance.now();
    bitcoinCodec.assemble(unsigned, signatures, from);
    const [began = 0, built = 0, described = 0] = times;
    build.push(built - began);
    describe.push(described - built);
    assemble.push(performance.now() - signedAt);
  }
  const p50 = (list: number[]) => round(percentiles(list).p50);
  process.stdout.write(
    `${JSON.stringify({ bench: 'bitcoin bytes', inputs, build_ms: p50(build), describe_and_digests_ms: p50(describe), assemble_ms: p50(assemble) })}\n`,
  );
});
