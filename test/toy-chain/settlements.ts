import { secp256k1 } from '@noble/curves/secp256k1.js';
import { AccountEntity } from '../../src/accounts/entity';
import type { Family } from '../../src/chains/family';
import type { Hex, TransactionIntent } from '../../src/chains/types';
import { newId } from '../../src/platform/ids';
import { getSignedType as productTypes } from '../../src/signed-types';
import { toPayment } from '../../src/transactions/intent';
import type { GetSignedType, SignedType } from '../../src/transactions/signed-type';
import { claimsOf } from '../orders';
import { buildAccount, buildClient, buildWallet, signAs } from '../factories';
import { toyFamily } from './family';
import { createToyFixture } from './fixture';
import { parseToyAddress, toyAddress, voucherDigest } from './message';

const typeName = 'TOY_SETTLEMENT';
/** Outputs of the payer, who has no account; atomic units. */
const payerOutputs = [5_000n, 7_000n];
const settlerOutput = 100_000n;

/**
 * The toy chain with a type of transactions that are no payments and hold nothing: an account of another client settles vouchers of
 * somebody whom the gateway does not know, and pays the fee. `type`, `changesOfFamily`: in place of the usual.
 */
export async function createSettlementFixture(type: Partial<SignedType> = {}, changesOfFamily: Partial<Family> = {}) {
  const actions = new Map<string, TransactionIntent['action']>();
  const settlement: SignedType = {
    orderKind: 'transfer',
    loadIntent: (_manager, tx) => Promise.resolve({ ...toPayment(tx), ...actionOf(actions.get(tx.txId)) }),
    findSigner: (manager, { senderAddress }) => manager.findOneByOrFail(AccountEntity, { address: senderAddress ?? '' }),
    assertMayBegin: () => Promise.resolve(),
    assertMayContinue: () => Promise.resolve(),
    timeLeft: () => Promise.resolve(null),
    ...type,
  };
  const getSignedType: GetSignedType = (name) => (name === typeName ? settlement : productTypes(name));
  const fixture = await createToyFixture({ stuckAfterMs: 0 }, {}, { ...changesOfFamily, getSignedType });
  const { database, chain, getFamily, toy, outside, alice, ledger, onChain } = fixture;
  await database.query(
    `insert into transaction_types (transaction_type, direction, is_held, is_signed) values ($1, 'out', false, true)`,
    [typeName],
  );
  const wallet = await buildWallet(database, await buildClient(database));
  const settler = await buildAccount(database, wallet, chain, getFamily);
  const payerKey = secp256k1.keygen();
  const payer = toyAddress(payerKey.publicKey).address;
  for (const amount of payerOutputs) toy.grant(outside, payer, amount);
  toy.grant(outside, settler.address, settlerOutput);
  toy.mine(chain.confirmations);
  await fixture.follow();

  /** A transaction of Alice's client that settles the payer's next voucher to an address outside. */
  const accept = async () => {
    const input = toy.unspent(payer)[actions.size];
    if (!input) throw new Error('the payer has no further output');
    const digest = Buffer.from(voucherDigest(chain.caip2, { input, to: outside }).slice(2), 'hex');
    const [recovery, ...rs] = secp256k1.sign(digest, payerKey.secretKey, { prehash: false, format: 'recovered' });
    const signature: Hex = `0x${Buffer.from([...rs, recovery as number]).toString('hex')}`;
    const txId = newId();
    const authorised = input.amount.toString();
    const window = { validAfter: '0', validBefore: '253402300799' };
    actions.set(txId, { type: 'settlement', method: 'voucher', payer, nonce: input.id, authorised, ...window, signature });
    await database.query(
      `insert into transactions (tx_id, client_id, chain, transaction_type, from_address, sender_address, to_address, to_address_key,
         token_symbol, decimals, amount, fee_symbol, fee_decimals, status, required_confirmations)
       values ($1, $2, $3, $4, $5, $6, $7, $8, 'TOY', 3, $9, 'TOY', 3, 'PENDING', $10)`,
      [
        ...[txId, alice.clientId, chain.name, typeName, payer, settler.address, outside, parseToyAddress(outside)?.key],
        ...[authorised, chain.confirmations],
      ],
    );
    return txId;
  };
  const begin = async (txId: string) => {
    const prepared = await onChain.prepareAttempt({ txId, attempt: 1, kind: 'first' });
    return ledger.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared });
  };
  /** Begins, signs with the settler's key and records the first attempt; returns what its order says. */
  const signFirst = async (txId: string) => {
    const begun = await begin(txId);
    if (begun.outcome !== 'begun') throw new Error(`not begun: ${JSON.stringify(begun)}`);
    const signatures = signAs(wallet, settler, begun.unsigned, { getFamily });
    await ledger.recordSigned({ txId, attempt: 1, signatures });
    return { claims: claimsOf(begun.order), unsigned: begun.unsigned };
  };
  const postings = (txId: string) =>
    database.query<{ kind: string }[]>('select kind from ledger_postings where tx_id = $1', [txId]);
  return { ...fixture, settler, payer, accept, begin, signFirst, postings };
}

export type SettlementFixture = Awaited<ReturnType<typeof createSettlementFixture>>;

const actionOf = (action: TransactionIntent['action']): Pick<TransactionIntent, 'action'> => (action ? { action } : {});

/** A family that pays by itself what it was to settle. */
export const payingFamily: Partial<Family> = {
  build: ({ intent: { from, outputs }, ...plan }) => toyFamily.build({ ...plan, intent: { from, outputs } }),
};
