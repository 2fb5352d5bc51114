import { promises as dns } from 'node:dns';
import ipaddr from 'ipaddr.js';

/** Why a url must not be requested; the message is shown to the client. */
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
/** All addresses of a host name. @throws when there are none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

const dnsTimeoutMs = 2_000;
const dnsTries = 2;
const maxAddresses = 16;
const maxUrlLength = 2048;

/**
 * Protects the gateway's own network against server-side request forgery (SSRF). Checks a url when it is saved and before every
 * attempt. The connection uses exactly the addresses that `resolveTarget` returns, so that a DNS change between check and
 * connection has no effect.
 */
export class TargetGuard {
  private constructor(
    private readonly local: boolean,
    private readonly resolve: Resolve,
  ) {}

  /** All environments except local: https to public unicast addresses, on port 443 or an unprivileged port. */
  static publicOnly(resolve: Resolve = resolveByDns): TargetGuard {
    return new TargetGuard(false, resolve);
  }

  /** GATEWAY_ENV=local: also http, and local and private addresses. */
  static local(resolve: Resolve = resolveBySystem): TargetGuard {
    return new TargetGuard(true, resolve);
  }

  /** @throws TargetRefused bad_url. */
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
   * The addresses to connect to, all of them checked.
   * @param deadline of the DNS lookup
   * @throws TargetRefused dns, blocked_address.
   */
  async resolveTarget({ hostname }: URL, deadline: AbortSignal): Promise<ResolvedAddress[]> {
    // URL has normalised every notation of an IPv4 address (octal, hex, one number)
    const host = hostname.replace(/^\[|\]$/g, '');
    const addresses = ipaddr.isValid(host) ? [literal(host)] : await this.lookUp(host, deadline);
    if (!this.local && !addresses.every(({ address }) => isPublic(address)))
      throw new TargetRefused('blocked_address', 'must not resolve to a private, local or reserved address');
    return addresses;
  }

  private async lookUp(host: string, deadline: AbortSignal): Promise<ResolvedAddress[]> {
    const timeout = new Promise<ResolvedAddress[]>((resolve) =>
      deadline.addEventListener('abort', () => resolve([]), { once: true }),
    );
    const found = await Promise.race([this.resolve(host).catch(() => []), timeout]);
    if (found.length === 0) throw new TargetRefused('dns', 'has a host that cannot be resolved');
    return found.slice(0, maxAddresses);
  }
}

/** The guard of an environment (GATEWAY_ENV). */
export const createTargetGuard = (environment: string): TargetGuard =>
  environment === 'local' ? TargetGuard.local() : TargetGuard.publicOnly();

const literal = (address: string): ResolvedAddress => ({ address, family: ipaddr.parse(address).kind() === 'ipv4' ? 4 : 6 });

/** NAT64 with the well-known prefix (RFC 6052); 64:ff9b:1::/48 is for private use and therefore not public. */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for public unicast addresses. IPv6 addresses that contain an IPv4 address (mapped, 6to4, NAT64, Teredo) lead to that one, so
 * the IPv4 address decides.
 */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  // a zone id refers to an interface of this machine
  if (text.includes('%')) return false;
  const embedded = embeddedIpv4(address);
  if (embedded) return embedded.range() === 'unicast';
  return address.range() === 'unicast' && address.match(globalUnicast);
}

function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  const bytes = address.toByteArray();
  const range = address.range();
  if (range === 'ipv4Mapped' || address.match(nat64)) return new ipaddr.IPv4(bytes.slice(12, 16));
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  // RFC 4380: the client's address, inverted
  if (range === 'teredo') return new ipaddr.IPv4(bytes.slice(12, 16).map((byte) => byte ^ 0xff));
  return null;
}

/** Queries DNS directly: the system's resolver would occupy threads of the pool that cryptography and file access need. */
async function resolveByDns(hostname: string): Promise<ResolvedAddress[]> {
  const resolver = new dns.Resolver({ timeout: dnsTimeoutMs, tries: dnsTries });
  const [v4, v6] = await Promise.all([resolver.resolve4(hostname).catch(() => []), resolver.resolve6(hostname).catch(() => [])]);
  return [...v4.map((address) => ({ address, family: 4 as const })), ...v6.map((address) => ({ address, family: 6 as const }))];
}

/** Uses the hosts file too, for names such as `localhost`. */
async function resolveBySystem(hostname: string): Promise<ResolvedAddress[]> {
  const found = await dns.lookup(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}
