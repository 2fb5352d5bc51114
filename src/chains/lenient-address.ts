import type { FamilyCodec, ParsedAddress } from './family';

/** A sender's own address is found in any letter case, in families where the case only carries a checksum. */
export const parseAddressLenient = (family: FamilyCodec, text: string): ParsedAddress | null =>
  family.parseAddress(text) ?? family.parseAddress(text.toLowerCase());
