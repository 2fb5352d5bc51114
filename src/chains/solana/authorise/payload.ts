import { randomBytes } from 'node:crypto';
import { fromHex } from '../../../platform/hex';
import type { AuthorisableTerms, AuthorisationPlan, PaymentAuthoriser } from '../../payments';
import type { Hex, JsonObject, JsonValue } from '../../types';
import { isOnCurve, parseAddress } from '../codec/address';
import { maxLifeSeconds } from '../payments/limits';
import { maxMemoBytes } from './bytes';

/** How the official clients choose what they sign, and how they write it (x402 version 1 and 2, scheme exact on SVM). */
export const solanaAuthoriser: PaymentAuthoriser = { plan, present };

/** Of a nonce that stands in a memo; the official client has as many. */
const nonceBytes = 16;

function plan({ version, scheme, payer, extra }: AuthorisableTerms): AuthorisationPlan {
  if (scheme !== 'exact') return refused('scheme', 'is not supported');
  if ((extra.assetTransferMethod ?? null) !== null) return refused('extra.assetTransferMethod', 'is not supported');
  const facilitator = readFeePayer(extra.feePayer);
  if (facilitator === null) return refused('extra.feePayer', 'has to be the address that pays the network fee');
  if (facilitator === payer) return refused('extra.feePayer', 'must differ from payer');
  const asked = readMemo(extra.memo);
  if (asked === undefined) return refused('extra.memo', `has to be text of at most ${maxMemoBytes} bytes`);
  const nonce = randomBytes(nonceBytes).toString('hex');
  // facilitators of version 1 may take no instruction behind the transfer
  const memo = asked ?? (version === 2 ? nonce : null);
  return {
    payloadType: 'transaction',
    action: {
      ...{ type: 'authorisation', method: 'transaction', nonce, seconds: maxLifeSeconds, facilitator },
      ...{ domain: null, withAllowance: false, ...(memo !== null && { memo }) },
    },
  };
}

const refused = (field: string, problem: string) => ({ field, problem });

/** In the form shown to clients; null: nobody has the key of it. */
function readFeePayer(text: JsonValue | undefined): string | null {
  const parsed = typeof text === 'string' ? parseAddress(text) : null;
  return parsed && isOnCurve(Buffer.from(parsed.key, 'hex')) ? parsed.address : null;
}

/** null: none is asked for; undefined: it could not be put into a transaction, or be stored. */
function readMemo(memo: JsonValue | undefined): string | null | undefined {
  if (memo === undefined || memo === null || memo === '') return null;
  if (typeof memo !== 'string' || memo.includes('\0')) return undefined;
  const bytes = Buffer.from(memo);
  // halves of surrogate pairs are no text
  return bytes.length <= maxMemoBytes && bytes.toString() === memo ? memo : undefined;
}

function present(_unsigned: Hex, signed: Hex): { payload: JsonObject; permit: null } {
  return { payload: { transaction: fromHex(signed).toString('base64') }, permit: null };
}
