import { ed25519 } from '@noble/curves/ed25519.js';
import { getFamily } from '../../../src/chains/families';
import { ChainRegistry } from '../../../src/chains/registry';
import type { Hex } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import { EarlierAttempts } from '../../../src/mpc/earlier-attempts';
import { buildSolana, solanaChain, solanaCodec } from '../../solana';

const walletOf = (seed: number) => solanaCodec.address(ed25519.getPublicKey(Buffer.alloc(32, seed))).address;
const [from, to] = [walletOf(0x11), walletOf(0x22)];

test.each([
  [1_800_000_000, new Date(1_800_000_000_000)],
  [undefined, null],
])('an earlier attempt that began at %s is looked for at that time', async (begun_at, begunAt) => {
  const unsigned = buildSolana({ from, outputs: [{ recipient: to, tokenContract: null, amount: 5n }] });
  const digests = solanaCodec.signingPayloads(unsigned, from).map(({ digest }) => digest);
  const asked: [Hex, Date | null][] = [];
  const prover = {
    proveImpossible: (bytes: Hex, at: Date | null) => {
      asked.push([bytes, at]);
      return Promise.resolve({ endpoint: 'endpoint', block: { number: 7, hash: 'hash' } });
    },
  };
  const earlier = new EarlierAttempts({
    ...{ self: 1, registry: new ChainRegistry([solanaChain]), getFamily, provers: new Map([[solanaChain.name, prover]]) },
  });
  const claims = {
    kind: 'reissue',
    chain: solanaChain.caip2,
    attempt: 2,
    from,
    earlier: [{ attempt: 1, digests, unsigned, begun_at }],
  };
  expect(await earlier.prove(claims as unknown as SigningClaims)).toMatchObject([{ attempt: 1, digests, block: 7 }]);
  expect(asked).toEqual([[unsigned, begunAt]]);
});
