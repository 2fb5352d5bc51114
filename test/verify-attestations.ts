import { createPublicKey, verify } from 'node:crypto';

/** The recipe of docs/integration.md, as a client follows it: node:crypto alone, and nothing of the gateway's code. */

export interface ClaimedKey {
  key_id: string;
  wallet_id: string;
  client_id: string;
  protocol: string;
  public_key: string;
  chain_code: string;
}

/** PEM certificates or public keys of the three nodes, present and former ones, from their operators. */
export type KnownNodes = Record<number, string[]>;

/** The wallet's key. @throws Error unless all three nodes have signed that it is this client's wallet's. */
export function attestedKey(
  attestations: { statement: string; signature: string }[],
  owner: Pick<ClaimedKey, 'wallet_id' | 'client_id'>,
  known: KnownNodes,
): ClaimedKey {
  const nodes = new Set<number>();
  const keys = new Set<string>();
  for (const { statement, signature } of attestations) {
    const { node, ...key } = JSON.parse(statement) as ClaimedKey & { node: number };
    const signed = Buffer.from(`custody-gateway/mpc/key/v1\0${statement}`);
    const isSignedWith = (pem: string) =>
      verify('sha256', signed, { key: createPublicKey(pem), dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64'));
    if (!known[node]?.some(isSignedWith)) throw new Error(`not signed by node ${node}`);
    if (key.wallet_id !== owner.wallet_id || key.client_id !== owner.client_id) throw new Error(`the key is of ${key.wallet_id}`);
    nodes.add(node);
    keys.add(JSON.stringify(key));
  }
  if (nodes.size !== 3 || keys.size !== 1) throw new Error('not all three nodes attest the same key');
  return JSON.parse([...keys].join()) as ClaimedKey;
}
