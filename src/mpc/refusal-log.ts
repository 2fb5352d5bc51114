import type { KeyObject } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { NodeIndex } from '../messages/nodes';
import type { AdmissionRequest } from './admission';
import { signStatement } from './statement';

/** What this node has refused by its operator's limits, signed by the node: once for each attempt and reason. */
export class RefusalLog {
  constructor(
    private readonly database: DataSource,
    private readonly self: NodeIndex,
    private readonly signingKey: KeyObject,
  ) {}

  async record({ txId, attempt, kind, keyId, orderHash, spends }: AdmissionRequest, reason: string): Promise<void> {
    const fields = {
      node: this.self,
      tx_id: txId,
      attempt,
      kind,
      key_id: keyId,
      order_hash: orderHash,
      chain: spends.chain,
      token: spends.token ?? '',
      amount: spends.amount.toString(),
      fee: spends.fee.toString(),
      reason,
      refused_at: new Date().toISOString(),
    };
    const { text, signature } = signStatement('refusal', fields, this.signingKey);
    await this.database.query(
      `insert into refusals (tx_id, attempt, reason, key_id, statement, statement_signature) values ($1, $2, $3, $4, $5, $6)
       on conflict do nothing`,
      [txId, attempt, reason, keyId, text, signature],
    );
  }
}
