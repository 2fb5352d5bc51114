import type { FamilyCodec, ParsedAddress } from '../chains/family';

/** A sender's own address is found in any letter case, in families where the case only carries a checksum. */
export const parseAddressLenient = (adapter: FamilyCodec, text: string): ParsedAddress | null =>
  adapter.parseAddress(text) ?? adapter.parseAddress(text.toLowerCase());
