import type { EntityManager } from 'typeorm';
import type { AttestedFields } from '../mpc/key-attestation';
import { setBounded } from '../platform/bounded';

/** Owners of keys whose attestations are kept in memory once they are verified; about 500 bytes each. */
const maxVerified = 10_000;

type ReadVerified = (manager: EntityManager, ids: string[]) => Promise<Map<string, AttestedFields>>;

/** What the nodes say of keys, by the id of the owner. What is verified once stays in memory. */
export class VerifiedStatements {
  private readonly verified = new Map<string, AttestedFields>();

  /** `read`: of the owners asked for, those of whose key all nodes say the same. */
  constructor(private readonly read: ReadVerified) {}

  async find(manager: EntityManager, ids: string[]): Promise<Map<string, AttestedFields>> {
    const known = new Map<string, AttestedFields>();
    const unknown: string[] = [];
    for (const id of new Set(ids)) {
      const attested = this.verified.get(id);
      if (attested) known.set(id, attested);
      else unknown.push(id);
    }
    if (unknown.length === 0) return known;
    for (const [id, attested] of await this.read(manager, unknown)) {
      known.set(id, attested);
      setBounded(this.verified, id, attested, maxVerified);
    }
    return known;
  }
}
