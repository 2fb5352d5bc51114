import { randomBytes } from 'node:crypto';
import { authorizationTypes, permit2WitnessTypes, uptoPermit2WitnessTypes } from '@x402/evm';
import type { Address, Hex, PrivateKeyAccount } from 'viem';
import { permit2Address } from '../src/chains/evm/payments/contracts';
import type { JsonObject } from '../src/chains/types';
import { change, type Changes, eip3009V1, eip3009V2, permit2Exact, permit2Upto } from './unit/x402/bodies';

/** Bodies as payers and resource servers make them, signed with the types of the official package. */

export const makers = { 'eip3009 V1': eip3009V1, eip3009: eip3009V2, permit2: permit2Exact, upto: permit2Upto };
export type Kind = keyof typeof makers;

export interface Draft {
  kind: Kind;
  payer: PrivateKeyAccount;
  /** Whose money it is, where that is not the signer: a contract wallet. */
  from?: Address;
  facilitator?: Address;
  /** Without it all payments are to one address. */
  payTo?: Address;
  changes?: Changes;
}

/** Valid for 10 minutes, with a nonce of its own. */
export function draft({ kind, payer, from = payer.address, facilitator, payTo, changes = {} }: Draft): JsonObject {
  const now = Math.floor(Date.now() / 1000);
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
  const [after, before] = [String(now - 600), String(now + 600)];
  const own: Changes = /^eip3009/.test(kind)
    ? {
        'authorization.from': from,
        'authorization.validAfter': after,
        'authorization.validBefore': before,
        'authorization.nonce': nonce,
      }
    : { 'permit.from': from, 'permit.nonce': BigInt(nonce).toString(), 'permit.deadline': before, 'witness.validAfter': after };
  const named: Changes = facilitator && kind === 'upto' ? { 'witness.facilitator': facilitator } : {};
  return change(makers[kind](), { ...own, ...named, ...(payTo ? paidTo(kind, payTo) : {}), ...changes });
}

const paidTo = (kind: Kind, payTo: Address): Changes => ({
  [/^eip3009/.test(kind) ? 'authorization.to' : 'witness.to']: payTo,
  [/V1$/.test(kind) ? 'required.payTo' : 'terms.payTo']: payTo,
});

/** What a payer may be wrong about. */
export interface SignedFor {
  chainId?: number;
  /** Of the token. */
  name?: string;
  version?: string;
  verifyingContract?: Address;
}

/** The body with the signature of `account` over what its payload states. */
export async function sign(body: JsonObject, account: PrivateKeyAccount, as: SignedFor = {}): Promise<JsonObject> {
  return change(body, { 'payload.signature': await signatureOf(body, account, as) });
}

async function signatureOf(body: JsonObject, account: PrivateKeyAccount, as: SignedFor): Promise<Hex> {
  const { chainId = 8453, name = 'USD Coin', version = '2' } = as;
  const paymentPayload = body.paymentPayload as JsonObject;
  const { authorization, permit2Authorization } = paymentPayload.payload as Record<string, JsonObject | undefined>;
  if (authorization) {
    const terms = (body.paymentRequirements ?? paymentPayload.accepted) as { asset: Address };
    return account.signTypedData({
      domain: { name, version, chainId, verifyingContract: as.verifyingContract ?? terms.asset },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: authorization as never,
    });
  }
  const permit = permit2Authorization as JsonObject & { witness: JsonObject };
  const domain = { name: 'Permit2', chainId, verifyingContract: as.verifyingContract ?? permit2Address };
  const [primaryType, message] = ['PermitWitnessTransferFrom', permit as never] as const;
  return permit.witness.facilitator === undefined
    ? account.signTypedData({ domain, types: permit2WitnessTypes, primaryType, message })
    : account.signTypedData({ domain, types: uptoPermit2WitnessTypes, primaryType, message });
}

/** Drafted and signed by its payer. */
export const signed = (from: Draft, as?: SignedFor): Promise<JsonObject> => sign(draft(from), from.payer, as);
