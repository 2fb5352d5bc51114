import ipaddr from 'ipaddr.js';

/** Stands for every caller whose address cannot be told: they are counted together. */
const unknown = 'unknown';

/**
 * What is counted of a caller's address: an IPv6 caller owns its whole /64. Takes what proxies write: brackets and a port may be
 * around it.
 */
export function network(address: string): string {
  const text = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(address)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(address)?.[1] ?? address;
  // one number, octal or hex are other spellings of an IPv4 address: no proxy writes them
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return unknown;
  const caller = ipaddr.process(text);
  if (caller instanceof ipaddr.IPv4) return caller.toString();
  return `${caller.parts
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
