import { ApplicationFailure } from '@temporalio/common';
import { decodeTransaction } from '../../../dev/solana/transactions';
import type { Hex } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import { solanaCodec } from '../../solana';
import type { SolanaFixture } from './fixture';

/**
 * What a signing node can do that has a signature and keeps it from the initiator: it sends the transaction itself, by a node of its own. `once`:
 * the next session gives another signature over the same message. `always`: the gateway has none before a block shows the peer's.
 */
export type Withholding = 'once' | 'always';

export class WithholdingPeer {
  /** By transfer: the id of what it has sent. */
  readonly sent = new Map<string, string>();
  private readonly plans = new Map<string, Withholding>();

  constructor(private readonly fixture: SolanaFixture) {}

  /** Of the first attempt of this transfer. */
  withhold(txId: string, how: Withholding): void {
    this.plans.set(txId, how);
  }

  /** A session of two nodes. @throws ApplicationFailure signers_unavailable for one whose signature it keeps. */
  async sign({ tx_id: txId, attempt, from }: SigningClaims): Promise<void> {
    const plan = attempt === 1 ? this.plans.get(txId) : undefined;
    if (!plan || (plan === 'once' && this.sent.has(txId))) return;
    if (!this.sent.has(txId)) await this.send(txId, from);
    throw ApplicationFailure.create({ type: 'signers_unavailable', message: 'the peer has not answered' });
  }

  private async send(txId: string, from: string): Promise<void> {
    const { attempts, signatures, solana } = this.fixture;
    const [attempt] = await attempts(txId);
    const unsigned = attempt?.unsigned as Hex;
    const { id, bytes } = solanaCodec.assemble(unsigned, signatures(unsigned, from, { isRandom: true }), from);
    this.sent.set(txId, id);
    // not by the endpoint of the gateway, which loses some
    solana.local.chain.submit(decodeTransaction(Buffer.from(bytes.slice(2), 'hex')), Infinity);
  }
}
