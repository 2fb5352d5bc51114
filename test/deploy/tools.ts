import { findOnPath } from '../../dev/binaries';

/** Debian packages by the program that is needed of them. */
const needed: Record<string, string> = {
  buildah: 'buildah',
  debootstrap: 'debootstrap',
  ip: 'iproute2',
  iptables: 'iptables',
  nsenter: 'util-linux',
  flock: 'util-linux',
  openssl: 'openssl',
  npm: 'npm',
  go: 'golang, version 1.24 or later',
};

/** What keeps the test from running on this machine, or null. */
export function findMissing(): string | null {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.getuid?.() !== 0) return 'it needs root: Debian is installed into a folder, and networks are made';
  const missing = Object.keys(needed).filter((program) => findOnPath(program) === undefined);
  if (missing.length === 0) return null;
  return `it needs ${missing.map((program) => `${program} (Debian package ${needed[program]})`).join(' and ')}`;
}
