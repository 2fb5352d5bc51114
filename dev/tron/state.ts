/**
 * Accounts, contracts and storage as layers over one base, like java-tron's SnapshotManager: the base is what is solidified, each block
 * after it and the pending transactions have a layer. A fork drops layers, solidification merges the oldest one into the base.
 */
export interface Readable {
  get(key: string): string | undefined;
}

/** Entries are texts; null: deleted. */
export class Layer implements Readable {
  constructor(
    public parent: Readable | undefined,
    readonly entries = new Map<string, string | null>(),
  ) {}

  get(key: string): string | undefined {
    const own = this.entries.get(key);
    return own === undefined ? this.parent?.get(key) : (own ?? undefined);
  }

  set(key: string, value: string | undefined): void {
    this.entries.set(key, value ?? null);
  }

  /** Moves the entries into another layer, which is below this one. */
  mergeInto(target: Layer): void {
    for (const [key, value] of this.entries) {
      if (value === null && !target.parent) target.entries.delete(key);
      else target.entries.set(key, value);
    }
  }
}

/** Use of a resource that recovers within a day. */
export interface Usage {
  used: bigint;
  /** Slot (three seconds) of the last use. */
  slot: number;
}

export interface Account {
  type: 'Normal' | 'Contract';
  /** Sun. */
  balance: bigint;
  createTime: number;
  /** Milliseconds; 0: never. */
  latestOperation: number;
  nonce: bigint;
  free: Usage;
  net: Usage & { limit: bigint };
  energy: Usage & { limit: bigint };
}

export interface ContractData {
  name: string;
  /** Hex, as it runs. */
  code: string;
  /** Ten-thousandths on top of the energy used, as the dynamic energy model of a popular contract. */
  energyFactor: number;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const reviveBigint = (_: string, value: unknown): unknown =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;
const keepBigint = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);

export function getAccount(state: Readable, address: Uint8Array): Account | undefined {
  const text = state.get(`a:${hex(address)}`);
  return text === undefined ? undefined : (JSON.parse(text, reviveBigint) as Account);
}

export function putAccount(layer: Layer, address: Uint8Array, account: Account | undefined): void {
  layer.set(`a:${hex(address)}`, account && JSON.stringify(account, keepBigint));
}

export function newAccount(createTime: number, type: Account['type'] = 'Normal'): Account {
  const unused = { used: 0n, slot: 0 };
  return {
    ...{ type, balance: 0n, createTime, latestOperation: 0, nonce: 0n },
    ...{ free: unused, net: { ...unused, limit: 0n }, energy: { ...unused, limit: 0n } },
  };
}

export function getContract(state: Readable, address: Uint8Array): ContractData | undefined {
  const text = state.get(`c:${hex(address)}`);
  return text === undefined ? undefined : (JSON.parse(text) as ContractData);
}

export const putContract = (layer: Layer, address: Uint8Array, contract: ContractData): void =>
  layer.set(`c:${hex(address)}`, JSON.stringify(contract));

/** The 32 bytes of a slot, without leading zeros; empty if unset. */
export const getStorage = (state: Readable, address: Uint8Array, slot: Uint8Array): Buffer =>
  Buffer.from(state.get(`s:${hex(address)}:${hex(slot)}`) ?? '', 'hex');

export const putStorage = (layer: Layer, address: Uint8Array, slot: Uint8Array, value: Uint8Array): void =>
  layer.set(`s:${hex(address)}:${hex(slot)}`, value.length === 0 ? undefined : hex(value));
