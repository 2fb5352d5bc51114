import ipaddr from 'ipaddr.js';

/** Key of all callers whose address is not known; they are counted together. */
const unknown = 'unknown';

/**
 * The key under which a caller's address is counted: for IPv6 its /64 network, since a caller usually has all of it. Accepts the
 * notations of proxies, with brackets and port.
 */
export function network(address: string): string {
  const text = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(address)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(address)?.[1] ?? address;
  // other notations of an IPv4 address (one number, octal, hex) are refused: proxies do not use them
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return unknown;
  const caller = ipaddr.process(text);
  if (caller instanceof ipaddr.IPv4) return caller.toString();
  return `${caller.parts
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
