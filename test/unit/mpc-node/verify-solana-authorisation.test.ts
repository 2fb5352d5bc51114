import { ed25519 } from '@noble/curves/ed25519.js';
import { AccountRole, address, type Instruction } from '@solana/kit';
import { getFamily } from '../../../src/chains/families';
import { groupPath } from '../../../src/chains/key-protocols';
import { ChainRegistry } from '../../../src/chains/registry';
import type { Hex } from '../../../src/chains/types';
import type { ClaimsOf } from '../../../src/messages/order';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import { houseClientId } from '../../../src/platform/house';
import { orderHead } from '../../orders';
import { solanaChain, solanaCodec } from '../../solana';
import {
  authorisedAt,
  authorisedOnSolana,
  type AuthorisedOnSolana,
  buildAuthorisedOnSolana,
  payerSecret,
  secretOf,
} from '../../solana-authorisations';
import { createAssociated, transferSol, transferToken } from '../../solana-chain';
import { check, type Holder, limit, memo, offer, price } from '../x402/solana/scene';

/** What a node makes of orders over payments that somebody else pays the fee of, on Solana. */

const registry = new ChainRegistry([solanaChain]);
const { from, payTo, feePayer, blockhash } = authorisedOnSolana;
const key = { publicKey: ed25519.getPublicKey(payerSecret), chainCode: new Uint8Array() };
const tenant = '0190b5a4-0000-7000-8000-00000000000a';

interface Ordered {
  claims: ClaimsOf<'typed_data'>;
  unsigned: Hex;
}

const digestsOf = (unsigned: Hex): Hex[] => solanaCodec.signingPayloads(unsigned, from).map(({ digest }) => digest);

/** The order of an honest authoriser: bytes and claims agree. */
function orderFor(changes: Partial<AuthorisedOnSolana> = {}): Ordered {
  const unsigned = buildAuthorisedOnSolana(changes);
  const { authorisation, outputs, expiresAt = 0 } = solanaCodec.describe(unsigned);
  const { method, identity, facilitator } = authorisation!;
  const claims = {
    ...orderHead(),
    kind: 'typed_data' as const,
    ...{ tx_id: 't1', attempt: 1, client_id: tenant, request: null, chain: 'solana:local', from, max_fee: '0' },
    signers: [{ key_id: 'k.1', path: groupPath, protocol: 'frost-ed25519' as const, digests: digestsOf(unsigned) }],
    recipients: outputs.map(({ recipient, tokenContract: token, amount }) => ({
      address: recipient,
      token,
      amount: `${amount}`,
    })),
    authorisation: { method, identity, facilitator, window_end: expiresAt },
  };
  return { claims, unsigned };
}

const verify = ({ claims, unsigned }: Ordered, now = authorisedAt) =>
  verifyIntent(claims, unsigned, { registry, getFamily, keys: new Map([['k.1', key]]), now: () => now * 1_000 });
const claim = (changes: object): Ordered => {
  const { claims, unsigned } = orderFor();
  return { unsigned, claims: { ...claims, ...changes } };
};
/** The order of another payment over these bytes, with their digests. */
const over = (unsigned: Hex): Ordered => {
  const { claims } = orderFor();
  const [signer] = claims.signers;
  const digests = (() => {
    try {
      return digestsOf(unsigned);
    } catch {
      return signer?.digests ?? [];
    }
  })();
  return { unsigned, claims: { ...claims, signers: [{ ...signer!, digests }] } };
};

test('a payment that was ordered: its message is signed, its amount counts, and no fee', () => {
  const ordered = orderFor();
  const { payloads, spends, resources } = verify(ordered);
  expect(payloads).toHaveLength(1);
  expect(ordered.unsigned.endsWith(Buffer.from(payloads[0]?.message as Uint8Array).toString('hex'))).toBe(true);
  expect(spends).toMatchObject({ chain: 'solana', token: authorisedOnSolana.token, amount: 1_000n, fee: 0n });
  expect(resources).toEqual([]);
});

const [owner, settler] = [8, 7].map((fill) => ({ secret: secretOf(fill) })) as [Holder, Holder];
Object.assign(owner, { address: address(from) });
Object.assign(settler, { address: address(feePayer) });

/** Bytes around a message that the gateway would not write. */
function around(instructions: Instruction[], payer = settler): Hex {
  const wire = Buffer.from(offer({ settler: payer, payer: owner, blockhash }, { instructions }), 'base64');
  const head = Buffer.from(orderFor().unsigned.slice(2, 2 + 2 * 41), 'hex');
  const signatures = wire[0] as number;
  return `0x${Buffer.concat([head, wire.subarray(1 + 64 * signatures)]).toString('hex')}`;
}

const pay = () => transferToken(address(from), payTo, 1_000n, authorisedOnSolana.token);
const standard = async (...more: Instruction[]) => [limit(), price(), await pay(), ...more];
const memoOf = memo(authorisedOnSolana.memo as string);

test('bytes around the message of the official client, in its own order of accounts, are refused: there is one form', async () => {
  // unless its accounts happen to be in the same order
  const unsigned = around(await standard(memoOf));
  if (unsigned !== orderFor().unsigned) expect(() => verify(over(unsigned))).toThrow(/^unsigned/);
});

test.each<[string, () => Promise<Hex>]>([
  ['a second transfer', async () => around([...(await standard(memoOf)), await pay()])],
  ['a transfer of SOL', async () => around(await standard(transferSol(address(from), payTo, 1n)))],
  ['an account that is created', async () => around(await standard(await createAssociated(address(feePayer), payTo)))],
  ['a check of a wallet', async () => around(await standard(check()))],
  ['two memos', async () => around(await standard(memoOf, memoOf))],
  ['a memo that names the account', async () => around(await standard(memo('a', address(from))))],
  ['the account as who pays the fee', async () => around(await standard(memoOf), owner)],
  [
    'a transfer from another account',
    async () => {
      const { accounts = [], ...transfer } = await transferToken(address(payTo), payTo, 1_000n, authorisedOnSolana.token);
      const mine = { address: address(from), role: AccountRole.READONLY_SIGNER };
      return around([limit(), price(), { ...transfer, accounts: [...accounts.slice(0, 3), mine] }, memoOf]);
    },
  ],
])('%s is refused by its bytes', async (_, make) => {
  const unsigned = await make();
  expect(() => verify(over(unsigned))).toThrow(/^unsigned|^authorisation/);
});

test.each<[string, Ordered]>([
  ['recipients', over(buildAuthorisedOnSolana({ amount: 1_001n }))],
  ['recipients', over(buildAuthorisedOnSolana({ payTo: feePayer }))],
  ['authorisation.identity', over(buildAuthorisedOnSolana({ memo: 'another order' }))],
  ['authorisation.identity', over(buildAuthorisedOnSolana({ memo: null }))],
  ['authorisation.identity', over(buildAuthorisedOnSolana({ feePayer: payTo }))],
  ['authorisation.identity', over(buildAuthorisedOnSolana({ price: 2n }))],
  ['authorisation.window_end', over(buildAuthorisedOnSolana({ validBefore: BigInt(authorisedAt + 91) }))],
  ['authorisation.facilitator', claim({ authorisation: { ...orderFor().claims.authorisation, facilitator: payTo } })],
  ['authorisation.method', claim({ authorisation: { ...orderFor().claims.authorisation, method: 'eip3009' } })],
  ['client_id', claim({ client_id: houseClientId })],
  ['attempt', claim({ attempt: 2 })],
  ['memo', claim({ memo: authorisedOnSolana.memo })],
  ['kind', claim({ kind: 'transfer', authorisation: undefined })],
  ['client_id', claim({ kind: 'settlement', authorisation: undefined })],
])('an order and bytes that differ in %s are refused', (field, ordered) => {
  expect(() => verify(ordered)).toThrow(new RegExp(`^${field.replace('.', '\\.')}: `));
});

test('nothing is signed once its time is over', () => {
  expect(() => verify(orderFor(), authorisedAt + 90)).toThrow(/^authorisation\.window_end: it is over/);
});
