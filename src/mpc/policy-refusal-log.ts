import type { KeyObject } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { NodeIndex } from '../messages/nodes';
import type { AdmissionRequest } from './admission';
import { refusalFields } from './policy-refusal';
import { type SignedStatement, signStatement } from './statement';

/** What this node has refused by its operator's limits, signed by the node: once for each attempt and reason. */
export class PolicyRefusalLog {
  constructor(
    private readonly database: DataSource,
    private readonly self: NodeIndex,
    private readonly signingKey: KeyObject,
  ) {}

  /** Returns the signed refusal, for whoever has asked. */
  async record(request: AdmissionRequest, reason: string): Promise<SignedStatement> {
    const { txId, attempt, keyId } = request;
    const statement = signStatement('refusal', refusalFields(this.self, request, reason, new Date()), this.signingKey);
    await this.database.query(
      `insert into refusals (tx_id, attempt, reason, key_id, statement, statement_signature) values ($1, $2, $3, $4, $5, $6)
       on conflict do nothing`,
      [txId, attempt, reason, keyId, statement.text, statement.signature],
    );
    return statement;
  }
}
