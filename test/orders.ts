import { createPublicKey, randomUUID, type KeyObject } from 'node:crypto';
import { CompactSign, calculateJwkThumbprint, decodeJwt, exportJWK } from 'jose';
import { type OrderClaims, orderType, type SigningClaims } from '../src/messages/order';
import { OrderSigner } from '../src/orders/signer';
import { newKeyPair } from './keys';

/** The authoriser's key of a test run, and what nodes know it by. */
const { privateKey } = newKeyPair('ed25519');
export const orderKey = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
export const orderKeys = JSON.stringify({ keys: [createPublicKey(privateKey).export({ format: 'jwk' })] });
export const deployment = 'test';

export const orderSigner = OrderSigner.create(orderKey);

/** The head of an order that is valid now. */
export function orderHead(changes: Partial<Pick<OrderClaims, 'dep' | 'jti' | 'seq' | 'iat' | 'exp'>> = {}) {
  const iat = Math.floor(Date.now() / 1000);
  return { v: 1 as const, dep: deployment, jti: randomUUID(), seq: 1, iat, exp: iat + 600, ...changes };
}

export const signOrder = async (claims: OrderClaims): Promise<string> => (await orderSigner).sign(claims);

/** The same with whatever key, header and claims a test wants. */
export async function forgeOrder(claims: unknown, { key = privateKey, typ = orderType }: { key?: KeyObject; typ?: string } = {}) {
  const kid = await calculateJwkThumbprint(await exportJWK(createPublicKey(key)));
  return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg: 'EdDSA', kid, typ }).sign(key);
}

/** What an order over bytes says, unverified. */
export const claimsOf = <Claims = SigningClaims>(order: string): Claims => decodeJwt<Claims>(order);
