import { getAddress, size } from 'viem';
import type { SettlementMethod, Sponsoring } from '../../payments';
import { toSettlementAction } from '../../settlement-action';
import { capSecond } from '../../../platform/last-second';
import type { Hex, SettlementAction, TransactionDescription, TransactionIntent } from '../../types';
import { type Deployment, encodeSettlement, maxSettlementGasAnywhere, type SettledPayment } from '../payments/calldata';
import { isZero, maxSignatureBytes } from '../payments/fields';
import { authorisationOf, authorizationIdentity, permitIdentity } from '../payments/identity';
import { readSettlement } from '../payments/read-calldata';
import { getPayment } from './payment';
import type { Unsigned } from './transaction';

/**
 * The call that settles what an intent says. With upto its sender is the facilitator that the payer has named.
 * @throws Error for an action or amount that no method has
 */
export function encodeAction(intent: TransactionIntent) {
  const { action, from } = intent;
  if (action?.type !== 'settlement') throw new Error('only settlements have calldata of their own');
  const { recipient, tokenContract, amount } = getPayment(intent);
  if (tokenContract === null) throw new Error('only tokens are settled');
  const payment = toSettled(action, { from, recipient, tokenContract });
  if (payment.method !== 'permit2_upto' && amount !== payment.authorised)
    throw new Error('all of what was authorised is paid, or nothing');
  const { to, data } = encodeSettlement(payment, amount);
  return { to, value: 0n, data };
}

const methods: readonly SettlementMethod[] = ['eip3009', 'permit2_exact', 'permit2_upto'];

function toSettled(
  { method: name, payer, nonce, authorised, validAfter, validBefore, signature, permit, deployment }: SettlementAction,
  { from, recipient, tokenContract }: { from: string; recipient: string; tokenContract: string },
): SettledPayment {
  const method = methods.find((candidate) => candidate === name);
  if (!method) throw new Error('the method of the settlement is not known');
  return {
    ...{ method, nonce, signature, authorised: BigInt(authorised) },
    ...{ payer: getAddress(payer), payTo: getAddress(recipient), token: { contract: getAddress(tokenContract) } },
    ...{ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
    facilitator: method === 'permit2_upto' ? getAddress(from) : null,
    sponsoring: toSponsoring({ permit, deployment }),
  };
}

function toSponsoring({ permit, deployment }: Pick<SettlementAction, 'permit' | 'deployment'>): Sponsoring {
  if (permit && deployment) throw new Error('a wallet that does not exist yet signs no allowance');
  if (deployment) return { ...deployment, type: 'deployment' };
  return permit
    ? { ...permit, type: 'permit', value: BigInt(permit.value), deadline: BigInt(permit.deadline) }
    : { type: 'none' };
}

type Described = Pick<TransactionDescription, 'action' | 'outputs' | 'settlement' | 'expiresAt'>;

/**
 * What a settlement does, from its bytes alone; null for calldata of anything else.
 * @throws Error on a settlement that this gateway would never build
 */
export function describeSettlement({ to, data = '0x', value = 0n, gas = 0n }: Unsigned): Described | null {
  const contract = getAddress(to as Hex);
  const read = readSettlement({ to: contract, data });
  if (!read) return null;
  const { payment, amount } = read;
  if (value !== 0n) throw new Error('a settlement carries no value');
  if (gas > maxSettlementGasAnywhere) throw new Error('a settlement does not need so much gas');
  assertExecutable(payment, amount);
  const { method, payer, payTo, authorised, facilitator, sponsoring } = payment;
  const token = payment.token.contract as string;
  const last = lastSecond(payment);
  return {
    action: 'settlement',
    outputs: [{ recipient: payTo, tokenContract: token, amount }],
    settlement: {
      ...{ method, payer, identity: toIdentity(payment, token), authorised, facilitator },
      ...{ action: toSettlementAction(payment), authorisation: authorisationOf(payment, token) },
      ...(sponsoring.type === 'deployment' ? { contract: token, factory: getAddress(sponsoring.factory) } : { contract }),
    },
    expiresAt: Number(capSecond(last)),
  };
}

/** Refuses what a contract would always revert: it would cost gas for nothing. */
function assertExecutable(payment: SettledPayment, amount: bigint): void {
  const { payer, payTo, authorised, signature, sponsoring } = payment;
  if ([payer, payTo].some((party) => isZero(getAddress(party)))) throw new Error('a party is the zero address');
  if (amount === 0n || amount > authorised) throw new Error('the amount is 0, or more than was authorised');
  if (size(signature) > maxSignatureBytes) throw new Error('the signature is too long');
  if (sponsoring.type === 'deployment') assertCreatesWallet(sponsoring);
  if (sponsoring.type === 'permit' && sponsoring.value !== authorised) throw new Error('the allowance is another amount');
  if (lastSecond(payment) < firstSecond(payment)) throw new Error('there is no time at which it could be executed');
}

function assertCreatesWallet({ factory, data }: Deployment): void {
  if (isZero(getAddress(factory))) throw new Error('the factory is the zero address');
  if (size(data) > maxSignatureBytes) throw new Error('the call of the factory is too long');
}

/** EIP-3009 excludes both bounds, Permit2 includes them; seconds since the epoch. */
const firstSecond = ({ method, validAfter }: SettledPayment): bigint => (method === 'eip3009' ? validAfter + 1n : validAfter);
const lastSecond = ({ method, validBefore }: SettledPayment): bigint => (method === 'eip3009' ? validBefore - 1n : validBefore);

const toIdentity = ({ method, payer, nonce }: SettledPayment, token: string): string =>
  method === 'eip3009' ? authorizationIdentity(token, payer, nonce as Hex) : permitIdentity(payer, BigInt(nonce));
