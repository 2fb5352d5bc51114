import { promises as dns } from 'node:dns';
import ipaddr from 'ipaddr.js';

/** Why a url is not called; the text is for the client. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
  constructor(
    readonly kind: 'blocked_address' | 'dns' | 'bad_url',
    message: string,
  ) {
    super(message);
  }
}

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}
/** All addresses of a name. @throws when there are none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

const dnsTimeoutMs = 2_000;
const dnsTries = 2;
const maxAddresses = 16;
const maxUrlLength = 2048;

/**
 * Guards against having the gateway call its own network (SSRF). Asked when a url is saved, and before every attempt: what
 * `addressesOf` answers is what is connected to, so that a name cannot point elsewhere between check and connection.
 */
export class TargetGuard {
  private constructor(
    private readonly local: boolean,
    private readonly resolve: Resolve,
  ) {}

  /** Everywhere but on a developer's machine: https to public unicast addresses, port 443 or one that needs no privilege. */
  static publicOnly(resolve: Resolve = resolveByDns): TargetGuard {
    return new TargetGuard(false, resolve);
  }

  /** GATEWAY_ENV=local: also http, and addresses of this machine and its networks. */
  static local(resolve: Resolve = resolveBySystem): TargetGuard {
    return new TargetGuard(true, resolve);
  }

  /** @throws TargetRefused bad_url in words for the client. */
  parse(text: string): URL {
    const url = text.length <= maxUrlLength && URL.canParse(text) ? new URL(text) : null;
    if (!url || url.href.length > maxUrlLength)
      throw new TargetRefused('bad_url', `must be an absolute URL of at most ${maxUrlLength} characters`);
    if (url.protocol !== 'https:' && !(this.local && url.protocol === 'http:'))
      throw new TargetRefused('bad_url', this.local ? 'must begin with https:// or http://' : 'must begin with https://');
    if (url.username !== '' || url.password !== '') throw new TargetRefused('bad_url', 'must not contain credentials');
    if (url.hash !== '') throw new TargetRefused('bad_url', 'must not contain a fragment');
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    if (!this.local && port !== 443 && port < 1024) throw new TargetRefused('bad_url', 'must use port 443 or one above 1023');
    return url;
  }

  /**
   * The addresses to connect to, every one of them checked.
   * @param deadline of the look-up
   * @throws TargetRefused dns, blocked_address.
   */
  async addressesOf({ hostname }: URL, deadline: AbortSignal): Promise<ResolvedAddress[]> {
    // URL has brought every spelling of an IPv4 address (octal, hex, one number) to the usual one
    const host = hostname.replace(/^\[|\]$/g, '');
    const addresses = ipaddr.isValid(host) ? [literal(host)] : await this.lookUp(host, deadline);
    if (!this.local && !addresses.every(({ address }) => isPublic(address)))
      throw new TargetRefused('blocked_address', 'must not lead to a private, local or reserved address');
    return addresses;
  }

  private async lookUp(host: string, deadline: AbortSignal): Promise<ResolvedAddress[]> {
    const late = new Promise<ResolvedAddress[]>((resolve) =>
      deadline.addEventListener('abort', () => resolve([]), { once: true }),
    );
    const found = await Promise.race([this.resolve(host).catch(() => []), late]);
    if (found.length === 0) throw new TargetRefused('dns', 'names a host that cannot be resolved');
    return found.slice(0, maxAddresses);
  }
}

/** The guard of an environment (GATEWAY_ENV). */
export const getTargets = (environment: string): TargetGuard =>
  environment === 'local' ? TargetGuard.local() : TargetGuard.publicOnly();

const literal = (address: string): ResolvedAddress => ({ address, family: ipaddr.parse(address).kind() === 'ipv4' ? 4 : 6 });

/** NAT64 with the well-known prefix (RFC 6052); 64:ff9b:1::/48 is for private use and is no public address. */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for public unicast addresses. Addresses that carry an IPv4 address (mapped, 6to4, NAT64, Teredo) lead to that one:
 * they count as it does.
 */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  // a zone names an interface of this machine
  if (text.includes('%')) return false;
  const carried = carriedIpv4(address);
  if (carried) return carried.range() === 'unicast';
  return address.range() === 'unicast' && address.match(globalUnicast);
}

function carriedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  const bytes = address.toByteArray();
  const range = address.range();
  if (range === 'ipv4Mapped' || address.match(nat64)) return new ipaddr.IPv4(bytes.slice(12, 16));
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  // RFC 4380: the client's address, inverted
  if (range === 'teredo') return new ipaddr.IPv4(bytes.slice(12, 16).map((byte) => byte ^ 0xff));
  return null;
}

/** Asks the DNS directly: the system's resolver would keep threads busy that cryptography and files need. */
async function resolveByDns(hostname: string): Promise<ResolvedAddress[]> {
  const resolver = new dns.Resolver({ timeout: dnsTimeoutMs, tries: dnsTries });
  const [v4, v6] = await Promise.all([resolver.resolve4(hostname).catch(() => []), resolver.resolve6(hostname).catch(() => [])]);
  return [...v4.map((address) => ({ address, family: 4 as const })), ...v6.map((address) => ({ address, family: 6 as const }))];
}

/** With the hosts file: `localhost` and the like. */
async function resolveBySystem(hostname: string): Promise<ResolvedAddress[]> {
  const found = await dns.lookup(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}
