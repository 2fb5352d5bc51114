import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { NodeIndex } from '../messages/nodes';

/** What a node has attested about a wallet's key, as it has signed it (src/mpc/key-attestation.ts). Rows are never changed. */
@Entity('wallet_attestations')
export class AttestationEntity {
  @PrimaryColumn('uuid', { name: 'wallet_id' }) walletId!: string;
  @PrimaryColumn('smallint') node!: NodeIndex;
  /** JSON. */
  @Column('text') statement!: string;
  /** Base64. */
  @Column('text') signature!: string;
}
