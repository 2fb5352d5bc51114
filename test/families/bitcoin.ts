import { secp256k1 } from '@noble/curves/secp256k1.js';
import { networks, payments } from 'bitcoinjs-lib';
import { findInstalledBtcd } from '../../dev/btcd';
import { parseRawTransaction, type RawTransaction } from '../../src/chains/bitcoin/block';
import { createRpcCall } from '../../src/chains/bitcoin/rpc';
import { bitcoinCodec } from '../bitcoin';
import { invalidBitcoinAddresses } from './bitcoin-addresses';
import type { FamilyFixture, NodeView } from './fixture';

const network = networks.regtest;
const newKey = (): Uint8Array => secp256k1.keygen().publicKey;
const newAddress = (): string => bitcoinCodec.address(newKey()).address;
const keyOf = (address: string): string => bitcoinCodec.parseAddress(address)?.key ?? '';

/** The same P2WPKH script on other networks: the local chain takes them as its own. */
function spellings(address: string): string[] {
  const output = Uint8Array.from(Buffer.from(keyOf(address), 'hex'));
  const of = (bech32: string) => payments.p2wpkh({ output, network: { ...network, bech32 } }).address as string;
  return [address.toUpperCase(), of('bc'), of('tb'), of('bc').toUpperCase()];
}

function destinations(): Record<string, string> {
  const pubkey = newKey();
  const redeem = { output: Uint8Array.from([0x21, ...pubkey, 0xac]) };
  const ofPayment = ({ address }: { address?: string | undefined }): string => address as string;
  return {
    P2PKH: ofPayment(payments.p2pkh({ pubkey, network })),
    P2SH: ofPayment(payments.p2sh({ redeem, network })),
    P2WPKH: newAddress(),
    P2WSH: ofPayment(payments.p2wsh({ redeem, network })),
    // of BIP-350's test vectors, as it is written on the main network
    P2TR: 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  };
}

export const bitcoinFixture: FamilyFixture = {
  chain: 'bitcoin',
  symbol: 'BTC',
  decimals: 8,
  isInstalled: Boolean(findInstalledBtcd()),
  amount: (text) => text,
  newAddress,
  spellings,
  destinations,
  invalidAddresses: invalidBitcoinAddresses,
  node,
};

/** Transactions of one address that are looked at. */
const maxTransactions = 1_000;

function node(rpc: string): NodeView {
  const call = createRpcCall(rpc);
  const parse = (hex: string) => parseRawTransaction(Buffer.from(hex, 'hex'));
  const read = (id: string) => call<{ hex: string; confirmations?: number }>('getrawtransaction', [id, 1]);
  const paidTo = ({ outputs }: RawTransaction, key: string) => outputs.filter(({ script }) => script.toString('hex') === key);
  return {
    // its outputs that no transaction of its own spends, those in the pool included
    balanceOf: async (address) => {
      // refused for an address without transactions
      const found = await call<string[]>('searchrawtransactions', [address, 0, 0, maxTransactions]).catch(() => []);
      const transactions = found.map(parse);
      const spent = new Set(transactions.flatMap(({ inputs }) => inputs.map(({ resource }) => resource)));
      const key = keyOf(address);
      const unspent = transactions.flatMap(({ id, outputs }) =>
        outputs.filter(({ script }, index) => script.toString('hex') === key && !spent.has(`${id}:${index}`)),
      );
      return unspent.reduce((sum, { amount }) => sum + amount, 0n);
    },
    isIncluded: (id) =>
      read(id).then(
        ({ confirmations = 0 }) => confirmations > 0,
        () => false,
      ),
    paid: async (id, address) => {
      const { hex, confirmations = 0 } = await read(id);
      if (confirmations === 0) throw new Error(`${id} is in no block`);
      return paidTo(parse(hex), keyOf(address)).reduce((sum, { amount }) => sum + amount, 0n);
    },
  };
}
