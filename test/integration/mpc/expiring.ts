import { ChainRegistry } from '../../../src/chains/registry';
import type { EndpointView } from '../../../src/chains/chain-client';
import type { Hex } from '../../../src/chains/types';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { EarlierAttempt, SigningClaims } from '../../../src/messages/order';
import { deriveKey } from '../../../src/mpc/secp256k1';
import { orderHead } from '../../orders';
import { buildTron, tronCodec } from '../../tron';
import { connectTron, tronDefinition } from '../../tron-client';
import { newHolder, TestChain } from '../../tron-simulator';
import { client, type OrderedTransfer } from './transactions';

/** A chain on which attempts expire, and orders over payments on it. */

export const paid = 1_500_000n;
/** Milliseconds that an attempt has. */
const lifeMs = 3_000;
const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');

export interface Attempt {
  number: number;
  unsigned: Hex;
  expiration: number;
}

export class ExpiringChain {
  readonly recipient = newHolder();

  private constructor(
    readonly chain: TestChain,
    readonly registry: ChainRegistry,
  ) {}

  /** Two blocks follow before one is solidified. */
  static async start(): Promise<ExpiringChain> {
    return new ExpiringChain(await TestChain.start({ solidLag: 2 }), new ChainRegistry([tronDefinition()]));
  }

  /** Where one node asks. */
  prover(name: string): { proveImpossible: (unsigned: Hex) => Promise<EndpointView | null> } {
    return connectTron(this.chain, [name]);
  }

  endpoint(name: string, changes: object): Promise<unknown> {
    return this.chain.control('endpoint', { name, ...changes });
  }

  mine(blocks = 1, skip_ms = 0): Promise<unknown> {
    return this.chain.control('mine', { blocks, skip_ms });
  }

  /** As many blocks as make everything before them final. */
  settle(): Promise<unknown> {
    return this.mine(8);
  }

  accountOf(key: GroupKey): { path: string; address: string } {
    const path = tronCodec.accountPath(0);
    const derived = deriveKey({ publicKey: bytes(key.publicKey), chainCode: bytes(key.chainCode) }, path);
    return { path, address: tronCodec.address(derived).address };
  }

  /** A payment that expires soon, by the chain's clock and by ours. */
  async attempt(key: GroupKey, number: number, expiresAfterMs = lifeMs): Promise<Attempt> {
    const { block_header: header, blockID: id } = await this.chain.post('/walletsolidity/getblock', { detail: false });
    const now = Math.max(Number(header.raw_data.timestamp), Date.now());
    const expiration = now + expiresAfterMs;
    const from = this.accountOf(key).address;
    const outputs = [{ recipient: this.recipient.address, tokenContract: null, amount: paid }];
    const reference = { number: String(id).slice(12, 16), id: String(id).slice(16, 32) };
    return { number, expiration, unsigned: buildTron({ from, outputs }, { reference, expiration, timestamp: Date.now() }) };
  }

  /** Both clocks are past its expiration, and the block that shows it is final. */
  async outlive({ expiration }: Attempt): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, expiration - Date.now()) + 1_000));
    await this.settle();
  }
}

const digestOf = (unsigned: Hex, from: string): Hex => tronCodec.signingPayloads(unsigned, from)[0]?.digest as Hex;

/** An order over a payment; `earlier`: it is a reissue, which names these. */
export function orderOver(
  on: ExpiringChain,
  key: GroupKey,
  txId: string,
  { number, unsigned }: Attempt,
  earlier: Attempt[] = [],
): OrderedTransfer {
  const { path, address } = on.accountOf(key);
  const common = {
    ...orderHead(),
    tx_id: txId,
    attempt: number,
    client_id: client,
    request: null,
    signers: [{ key_id: key.keyId, path, protocol: 'ecdsa-secp256k1', digests: [digestOf(unsigned, address)] }],
    chain: 'tron:local',
    from: address,
    recipients: [{ address: on.recipient.address, token: null, amount: paid.toString() }],
    max_fee: '30000000',
  };
  const named = earlier.map((it): EarlierAttempt => ({
    attempt: it.number,
    unsigned: it.unsigned,
    digests: [digestOf(it.unsigned, address)],
  }));
  const claims = (
    earlier.length > 0 ? { ...common, kind: 'reissue', earlier: named } : { ...common, kind: 'transfer' }
  ) as SigningClaims;
  return { claims, unsigned };
}
