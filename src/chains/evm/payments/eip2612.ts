import type { Hex, JsonObject } from '../../types';
import { keySignatureBytes } from './calldata';
import { permit2Address } from './contracts';
import { isVersion, type NeededAllowance, readDecimal, type SponsoringResult } from './extension-fields';
import { minSecondsLeft, readAddress, readSignature, refuse } from './fields';

/**
 * Information of the extension eip2612GasSponsoring: a permit (EIP-2612) of the token that gives Permit2 exactly what is paid; the
 * proxy refuses any other amount.
 * @param now seconds since the epoch
 */
export function readTokenPermit(info: JsonObject, needed: NeededAllowance, now: number): SponsoringResult {
  const [from, asset, spender] = [readAddress(info.from), readAddress(info.asset), readAddress(info.spender)];
  const [value, nonce, deadline] = [readDecimal(info.amount), readDecimal(info.nonce), readDecimal(info.deadline)];
  const signature = split(info.signature);
  const isWellFormed = from && asset && spender && nonce !== null && isVersion(info.version);
  if (!isWellFormed || value === null || deadline === null || !signature) return refuse('invalid_eip2612_extension_format');
  if (from !== needed.payer) return refuse('eip2612_from_mismatch');
  if (asset !== needed.token) return refuse('eip2612_asset_mismatch');
  if (spender !== permit2Address) return refuse('eip2612_spender_not_permit2');
  if (deadline < BigInt(now + minSecondsLeft)) return refuse('eip2612_deadline_expired');
  if (value !== needed.amount) return refuse('permit2_2612_amount_mismatch');
  return { type: 'permit', value, deadline, ...signature };
}

/** A permit is signed by a key. */
function split(value: unknown): { r: Hex; s: Hex; v: number } | null {
  const signature = typeof value === 'string' ? readSignature(value) : null;
  if (signature?.length !== 2 + 2 * keySignatureBytes) return null;
  return {
    r: `0x${signature.slice(2, 66)}`,
    s: `0x${signature.slice(66, 130)}`,
    v: Number.parseInt(signature.slice(130), 16),
  };
}
