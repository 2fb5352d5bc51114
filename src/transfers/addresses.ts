import type { FamilyAdapter, ParsedAddress } from '../chains/adapter';

/** One's own address is found in any letter case where case only carries a checksum. */
export const parseAddressLenient = (adapter: FamilyAdapter, text: string): ParsedAddress | null =>
  adapter.parseAddress(text) ?? adapter.parseAddress(text.toLowerCase());
