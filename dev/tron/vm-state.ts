import type { AccountFields, StateManagerInterface } from '@ethereumjs/common';
import { Account as VmAccount, type Address, bytesToUnprefixedHex, KECCAK256_NULL } from '@ethereumjs/util';
import { keccak256 } from 'viem';
import { withPrefix } from './address';
import { getAccount, getContract, getStorage, Layer, newAccount, putAccount, putContract, putStorage } from './state';

/** The library's interface is of promises; nothing here waits. */
const done = (_: unknown): Promise<void> => Promise.resolve();

const addressOf = (address: Address): Buffer => withPrefix(address.bytes);

/** The simulator's state as the EVM library reads and writes it: balances in sun. State roots are not kept. */
export class VmState implements StateManagerInterface {
  /** The one on top takes what is written; the lowest one is the caller's. */
  private readonly layers: Layer[];
  private readonly originals = new Map<string, Uint8Array>();

  constructor(
    layer: Layer,
    private readonly timeMs: number,
  ) {
    this.layers = [layer];
  }

  private get top(): Layer {
    return this.layers.at(-1) as Layer;
  }

  readonly originalStorageCache = {
    get: async (address: Address, key: Uint8Array): Promise<Uint8Array> => {
      const name = `${address.toString()}:${bytesToUnprefixedHex(key)}`;
      const known = this.originals.get(name);
      if (known) return known;
      const value = await this.getStorage(address, key);
      this.originals.set(name, value);
      return value;
    },
    clear: (): void => this.originals.clear(),
  };

  async getAccount(address: Address): Promise<VmAccount | undefined> {
    const account = getAccount(this.top, addressOf(address));
    if (!account) return undefined;
    const code = await this.getCode(address);
    return new VmAccount(account.nonce, account.balance, undefined, code.length > 0 ? keccak256(code, 'bytes') : KECCAK256_NULL);
  }

  async putAccount(address: Address, account?: VmAccount): Promise<void> {
    if (!account) return void (await this.deleteAccount(address));
    const known = getAccount(this.top, addressOf(address));
    // a call alone does not create an account
    if (!known && account.balance === 0n && account.nonce === 0n) return;
    const { balance, nonce } = account;
    putAccount(this.top, addressOf(address), { ...(known ?? newAccount(this.timeMs)), balance, nonce });
  }

  deleteAccount(address: Address): Promise<void> {
    return done(putAccount(this.top, addressOf(address), undefined));
  }

  async modifyAccountFields(address: Address, { balance, nonce }: AccountFields): Promise<void> {
    const account = (await this.getAccount(address)) ?? new VmAccount();
    account.balance = balance ?? account.balance;
    account.nonce = nonce ?? account.nonce;
    await this.putAccount(address, account);
  }

  putCode(address: Address, value: Uint8Array): Promise<void> {
    const account = getAccount(this.top, addressOf(address)) ?? newAccount(this.timeMs);
    putAccount(this.top, addressOf(address), { ...account, type: 'Contract' });
    return done(putContract(this.top, addressOf(address), { name: '', code: bytesToUnprefixedHex(value), energyFactor: 0 }));
  }

  getCode(address: Address): Promise<Uint8Array> {
    return Promise.resolve(Buffer.from(getContract(this.top, addressOf(address))?.code ?? '', 'hex'));
  }

  async getCodeSize(address: Address): Promise<number> {
    return (await this.getCode(address)).length;
  }

  getStorage(address: Address, key: Uint8Array): Promise<Uint8Array> {
    return Promise.resolve(getStorage(this.top, address.bytes, key));
  }

  putStorage(address: Address, key: Uint8Array, value: Uint8Array): Promise<void> {
    return done(putStorage(this.top, address.bytes, key, value));
  }

  /** Only for addresses that a contract creates: they have no storage yet. */
  clearStorage(): Promise<void> {
    return Promise.resolve();
  }

  checkpoint(): Promise<void> {
    return done(this.layers.push(new Layer(this.top)));
  }

  commit(): Promise<void> {
    const layer = this.layers.pop() as Layer;
    return done(layer.mergeInto(this.top));
  }

  revert(): Promise<void> {
    return done(this.layers.pop());
  }

  clearCaches(): void {
    this.originals.clear();
  }

  getStateRoot(): Promise<Uint8Array> {
    return Promise.reject(new Error('the simulator keeps no state roots'));
  }

  setStateRoot(): Promise<void> {
    return Promise.reject(new Error('the simulator keeps no state roots'));
  }

  hasStateRoot(): Promise<boolean> {
    return Promise.resolve(false);
  }

  shallowCopy(): StateManagerInterface {
    return new VmState(this.top, this.timeMs);
  }
}
