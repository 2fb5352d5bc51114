import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { NodeIndex } from '../messages/nodes';

/** What a node has attested about a key, as it has signed it (src/mpc/key-attestation.ts). Rows are never changed. */
export abstract class StoredStatement {
  @PrimaryColumn('smallint') node!: NodeIndex;
  /** JSON. */
  @Column('text') statement!: string;
  /** Base64. */
  @Column('text') signature!: string;
}

/** Of a wallet's key. */
@Entity('wallet_attestations')
export class AttestationEntity extends StoredStatement {
  @PrimaryColumn('uuid', { name: 'wallet_id' }) walletId!: string;
}
