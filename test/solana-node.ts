import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toBase58 } from '../src/chains/solana/codec/base58';
import { toBytes } from '../src/chains/solana/codec/address';
import { programs } from '../src/chains/solana/codec/programs';
import { readForeign } from '../src/chains/solana/foreign';
import type { JsonObject, JsonValue } from '../src/chains/types';

/** Finalized blocks that a test makes, behind the JSON-RPC face of a node: it executes nothing, what transactions do is said by the test. */

interface StubBlock {
  slot: number;
  parentSlot: number;
  blockhash: string;
  previousBlockhash: string;
  blockHeight: number;
  transactions: JsonObject[];
  /** Seconds since the epoch. */
  blockTime: number | null;
}

export interface StubAccount {
  lamports: number;
  owner: string;
  data?: Buffer;
}

/** Of the Token program, for any token. `owner`: Base58. */
export const tokenAccount = (owner: string): StubAccount => ({
  lamports: 2_039_280,
  owner: toBase58(programs.token),
  data: Buffer.concat([Buffer.alloc(32), toBytes(owner), Buffer.alloc(101)]),
});

const hashOf = (text: string): string => toBase58(createHash('sha256').update(text).digest());
export const systemProgram = toBase58(programs.system);

export class StubNode {
  readonly blocks: StubBlock[] = [];
  readonly accounts = new Map<string, StubAccount>();
  readonly sent: string[] = [];
  /** By method: in place of its result. */
  /** What it never answers. */
  readonly silent = new Set<string>();
  readonly faults = new Map<string, (params: JsonValue[]) => JsonValue>();
  readonly calls: string[] = [];
  /** How much of blocks was asked for. */
  readonly blockCalls: string[] = [];
  /** How late it shows blocks, ms. */
  blocksAfterMs = 0;
  /** It shows them once so many are asked for at the same time. */
  blocksTogether = 1;
  private readonly held: (() => void)[] = [];
  /** So many blocks were asked for at the same time at most. */
  mostBlocks = 0;
  private blocksAsked = 0;
  /** A slot whose block it fails to show. */
  failsAt: number | null = null;
  /** Changes of blocks with all that transactions are. */
  changeWhole: JsonObject = {};
  /** More of blocks without all that transactions are, that nobody reads. */
  paddingBytes = 0;
  /** Of accounts, where nothing else of transactions is shown. */
  changeKey = (key: string): string => key;
  prices = [0];
  simulation: JsonObject = { err: null, unitsConsumed: 10_000 };
  states = new Map<string, JsonObject>();
  private readonly server: Server;
  /** What blocks say of their time, by their slot. */
  timeOf: (slot: number) => number | null = () => null;
  private nextSlot = 100;

  private constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, params } = JSON.parse(Buffer.concat(chunks).toString()) as { method: string; params: JsonValue[] };
        if (this.silent.has(method)) return;
        const answer = () => void response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...this.answer(method, params) }));
        if (method === 'getBlock') this.hold(answer);
        else answer();
      });
    });
  }

  static async start(): Promise<StubNode> {
    const node = new StubNode();
    await new Promise<void>((resolve) => node.server.listen(0, '127.0.0.1', resolve));
    node.mine();
    return node;
  }

  private hold(answer: () => void): void {
    this.mostBlocks = Math.max(this.mostBlocks, (this.blocksAsked += 1));
    this.held.push(answer);
    if (this.held.length < this.blocksTogether) return;
    const answers = this.held.splice(0);
    const answerAll = () => {
      this.blocksAsked -= answers.length;
      for (const each of answers) each();
    };
    if (this.blocksAfterMs > 0) setTimeout(answerAll, this.blocksAfterMs);
    else answerAll();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}?rate=1000`;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  get head(): StubBlock {
    return this.blocks.at(-1) as StubBlock;
  }

  /** Blocks, each with these transactions. */
  mine(count = 1, transactions: JsonObject[] = []): StubBlock {
    for (let made = 0; made < count; made += 1) {
      const parent = this.blocks.at(-1);
      this.blocks.push({
        ...{ slot: this.nextSlot, parentSlot: parent?.slot ?? this.nextSlot - 1 },
        ...{ blockhash: hashOf(`block ${this.nextSlot}`), previousBlockhash: parent?.blockhash ?? hashOf('genesis') },
        ...{ blockHeight: parent ? parent.blockHeight + 1 : 90, transactions, blockTime: this.timeOf(this.nextSlot) },
      });
      this.nextSlot += 1;
    }
    return this.head;
  }

  /** Slots without a block. */
  skip(count: number): void {
    this.nextSlot += count;
  }

  private answer(method: string, params: JsonValue[]): JsonObject {
    if (method === 'getGenesisHash' && !this.faults.has(method)) return { result: hashOf('genesis') };
    this.calls.push(method);
    if (method === 'getBlock') this.blockCalls.push((params[1] as { transactionDetails: string }).transactionDetails);
    try {
      const fault = this.faults.get(method);
      return { result: fault ? fault(params) : this.result(method, params) };
    } catch (error) {
      return { error: error instanceof StubError ? error.body : { code: -32_601, message: String(error) } };
    }
  }

  private result(method: string, [first, second]: JsonValue[]): JsonValue {
    const { head } = this;
    const context = { slot: head.slot };
    const value = (it: JsonValue): JsonObject => ({ context, value: it });
    switch (method) {
      case 'getSlot':
        return head.slot;
      case 'getLatestBlockhash':
        return value({ blockhash: head.blockhash, lastValidBlockHeight: head.blockHeight + 150 });
      case 'isBlockhashValid':
        return value(this.blocks.slice(-150).some(({ blockhash }) => blockhash === first));
      case 'getFirstAvailableBlock':
        return this.blocks[0]?.slot ?? 0;
      case 'getBlocks':
        return this.blocks.map(({ slot }) => slot).filter((slot) => slot >= (first as number) && slot <= (second as number));
      case 'getBlock':
        return this.getBlock(first as number, second as JsonObject);
      case 'getTransaction':
        return this.getTransaction(first as string, second as JsonObject);
      case 'getSignatureStatuses':
        return value((first as string[]).map((id) => this.states.get(id) ?? null));
      case 'getMultipleAccounts':
        return value((first as string[]).map((address) => this.getAccount(address)));
      case 'getMinimumBalanceForRentExemption':
        return (128 + (first as number)) * 6_960;
      case 'getRecentPrioritizationFees':
        return this.prices.map((prioritizationFee, slot) => ({ slot, prioritizationFee }));
      case 'simulateTransaction':
        return value(this.simulation);
      case 'sendTransaction': {
        const bytes = Buffer.from(first as string, 'base64');
        this.sent.push(bytes.toString('hex'));
        return readForeign(bytes, []).id;
      }
      default:
        throw new Error(`no method ${method}`);
    }
  }

  private getBlock(slot: number, { transactionDetails, maxSupportedTransactionVersion }: JsonObject): JsonValue {
    const found = this.blockAt(slot);
    if (!found) throw new StubError(slot < this.head.slot ? -32_007 : -32_004);
    if (slot === this.failsAt) throw new StubError(-32_005);
    const { transactions, ...header } = found;
    if (transactionDetails !== 'none') assertKnown(transactions, maxSupportedTransactionVersion);
    if (transactionDetails === 'accounts')
      return {
        ...{ ...header, padding: 'x'.repeat(this.paddingBytes) },
        transactions: transactions.map((it) => listAccounts(it, this.changeKey)),
      };
    return transactionDetails === 'full' ? { ...header, transactions, ...this.changeWhole } : { ...header };
  }

  /** Tests have thousands of blocks, and ask for each of them. */
  private blockAt(slot: number): StubBlock | undefined {
    let [first, behind] = [0, this.blocks.length];
    while (first < behind) {
      const middle = (first + behind) >> 1;
      if ((this.blocks[middle] as StubBlock).slot < slot) first = middle + 1;
      else behind = middle;
    }
    const found = this.blocks[first];
    return found?.slot === slot ? found : undefined;
  }

  private getTransaction(id: string, { maxSupportedTransactionVersion }: JsonObject): JsonValue {
    for (const { slot, transactions } of this.blocks) {
      const found = transactions.find(({ transaction }) => idOf(transaction) === id);
      if (!found) continue;
      assertKnown([found], maxSupportedTransactionVersion);
      return { slot, ...found };
    }
    return null;
  }

  private getAccount(address: string): JsonValue {
    const account = this.accounts.get(address);
    if (!account) return null;
    const { lamports, owner, data = Buffer.alloc(0) } = account;
    return { lamports, owner, data: [data.toString('base64'), 'base64'] };
  }
}

/** As nodes do (UNSUPPORTED_TRANSACTION_VERSION): one transaction that is too new for the client, and nothing is shown. */
function assertKnown(transactions: JsonObject[], highest: JsonValue | undefined): void {
  const isNewer = ({ transaction }: JsonObject): boolean =>
    Buffer.from((transaction as string[])[0] as string, 'base64')[0] === 0x81 && (typeof highest !== 'number' || highest < 1);
  if (transactions.some(isNewer)) throw new StubError(-32_015);
}

const listAccounts = ({ transaction, meta }: JsonObject, change: (key: string) => string): JsonObject => {
  const { id, keys, signers } = readForeign(Buffer.from((transaction as string[])[0] as string, 'base64'), []);
  const accountKeys = keys.map((key) => ({ pubkey: change(key), signer: signers.includes(key) }));
  return { transaction: { signatures: signers.map(() => id), accountKeys }, meta: meta as JsonValue };
};

const idOf = (transaction: JsonValue | undefined): string =>
  readForeign(Buffer.from((transaction as string[])[0] as string, 'base64'), []).id;

export class StubError extends Error {
  readonly body: JsonObject;

  constructor(code: number, data?: JsonObject, message = 'refused') {
    super(String(code));
    this.body = { code, message, ...(data && { data }) };
  }
}
