import { exactProxyAddress, permit2Address, uptoProxyAddress } from '../../../src/chains/evm/payments/contracts';
import type { PaymentContext } from '../../../src/chains/payments';
import { loadRegistry, tokenBySymbol } from '../../../src/chains/registry';
import type { JsonObject, JsonValue } from '../../../src/chains/types';
import { checkPayment } from '../../../src/x402/check';
import type { Phase } from '../../../src/x402/wire/amount';
import { readPaymentRequest } from '../../../src/x402/wire/request';

export const registry = loadRegistry('local', ['ethereum', 'base', 'bsc']);
export const base = registry.get('base');
export const usdc = tokenBySymbol(base, 'USDC')?.contract as string;
export const usdt = tokenBySymbol(base, 'USDT')?.contract as string;

export const now = 1_800_000_000;
export const payer = '0x9f3A1cE4b27D5068Fb1c93Ed4A7e2B60d58C7fA1'.toLowerCase();
export const payTo = '0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9'.toLowerCase();
export const settler = '0xD7a4C0b95E1f82637Ac94De05F3b186Cd279E8A4'.toLowerCase();
export const signature = `0x${'1b'.repeat(65)}`;
export const nonce32 = `0x${'a5'.repeat(32)}`;

export const context: PaymentContext = {
  now,
  settlers: new Set([settler]),
  sponsors: { permit: true, approval: true },
  walletFactories: new Set(),
};

const terms = (scheme: string, extra: JsonObject): JsonObject => ({
  scheme,
  network: 'eip155:8453',
  amount: '1000',
  asset: usdc,
  payTo,
  maxTimeoutSeconds: 60,
  extra,
});

const v2 = (scheme: string, extra: JsonObject, payload: JsonObject): JsonObject => ({
  x402Version: 2,
  paymentPayload: { x402Version: 2, resource: { url: 'https://seller.example/' }, accepted: terms(scheme, extra), payload },
  paymentRequirements: terms(scheme, extra),
});

const authorization = (): JsonObject => ({
  from: payer,
  to: payTo,
  value: '1000',
  validAfter: String(now - 600),
  validBefore: String(now + 60),
  nonce: nonce32,
});

const permit = (spender: string, witness: JsonObject): JsonObject => ({
  signature,
  permit2Authorization: {
    from: payer,
    permitted: { token: usdc, amount: '1000' },
    spender,
    nonce: '12345678901234567890',
    deadline: String(now + 60),
    witness: { to: payTo, validAfter: String(now - 600), ...witness },
  },
});

export const eip3009V1 = (): JsonObject => ({
  x402Version: 1,
  paymentPayload: { x402Version: 1, scheme: 'exact', network: 'base', payload: { signature, authorization: authorization() } },
  paymentRequirements: {
    scheme: 'exact',
    network: 'base',
    maxAmountRequired: '1000',
    resource: 'https://seller.example/',
    description: '',
    mimeType: '',
    payTo,
    maxTimeoutSeconds: 60,
    asset: usdc,
    extra: { name: 'USD Coin', version: '2' },
  },
});
export const eip3009V2 = (): JsonObject =>
  v2('exact', { name: 'USD Coin', version: '2' }, { signature, authorization: authorization() });
export const permit2Exact = (): JsonObject => v2('exact', { assetTransferMethod: 'permit2' }, permit(exactProxyAddress, {}));
export const permit2Upto = (): JsonObject =>
  v2('upto', { assetTransferMethod: 'permit2' }, permit(uptoProxyAddress, { facilitator: settler }));

/** Information with which a payer lets somebody else execute its permit. */
export const permitInfo = (): JsonObject => ({
  from: payer,
  asset: usdc,
  spender: permit2Address,
  amount: '1000',
  nonce: '0',
  deadline: String(now + 60),
  signature,
  version: '1',
});

/** Removes the field. */
export const gone = Symbol('gone');
export type Changes = Record<string, JsonValue | typeof gone>;

/** Short names of places in a body. `terms` is both sides at once. */
const places: Record<string, string[]> = {
  payload: ['paymentPayload', 'payload'],
  authorization: ['paymentPayload', 'payload', 'authorization'],
  permit: ['paymentPayload', 'payload', 'permit2Authorization'],
  permitted: ['paymentPayload', 'payload', 'permit2Authorization', 'permitted'],
  witness: ['paymentPayload', 'payload', 'permit2Authorization', 'witness'],
  accepted: ['paymentPayload', 'accepted'],
  required: ['paymentRequirements'],
};

/** A copy of the body with other fields, each named as `place.field` or by its whole path. */
export function change(body: JsonObject, changes: Changes): JsonObject {
  // as JSON, so that no two places share an object
  const copy = JSON.parse(JSON.stringify(body)) as JsonObject;
  for (const [name, value] of Object.entries(changes)) {
    const [place = '', ...rest] = name.split('.');
    const starts = place === 'terms' ? [places.accepted, places.required] : [places[place] ?? [place]];
    for (const start of starts) set(copy, [...(start as string[]), ...rest], value);
  }
  return copy;
}

function set(object: JsonObject, path: string[], value: JsonValue | typeof gone): void {
  const last = path.pop() as string;
  const parent = path.reduce<JsonObject>((inner, field) => (inner[field] ??= {}) as JsonObject, object);
  if (value === gone) delete parent[last];
  else parent[last] = value;
}

/** 'valid', or the reason. */
export function verdict(body: unknown, phase: Phase = 'verify', changes: Partial<PaymentContext> = {}): string {
  const read = readPaymentRequest(body, registry, phase);
  if ('reason' in read) return read.reason;
  const checked = checkPayment(read.request, { ...context, ...changes });
  return 'reason' in checked ? checked.reason : 'valid';
}

/** @throws Error naming the reason of a body that is refused */
export function paymentOf(body: unknown, phase: Phase = 'verify', changes: Partial<PaymentContext> = {}) {
  const read = readPaymentRequest(body, registry, phase);
  const checked = 'reason' in read ? read : checkPayment(read.request, { ...context, ...changes });
  if ('reason' in checked) throw new Error(checked.reason);
  return checked.payment;
}
