/** litesvm, which executes one transaction after another: it knows no blocks, no forks and no commitments. */
import {
  type Address,
  address,
  type EncodedAccount,
  isSolanaError,
  lamports,
  SOLANA_ERROR__TRANSACTION__SIGNATURES_MISSING,
} from '@solana/kit';
import { Clock, FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm';
import type { Account } from './accounts';
import { toErrorJson } from './errors';
import type { Json, JsonObject } from './json';
import { slotsPerEpoch } from './parameters';
import { base58, type Decoded, toAddress } from './transactions';

export interface Result {
  err: Json;
  logs: string[];
  units: bigint;
  /** As in `meta.innerInstructions`. */
  inner: Json[];
  returnData: JsonObject | undefined;
}

/** Of a simulation: also what the accounts would be. */
export interface Simulated extends Result {
  accounts: Map<string, Account>;
}

export class Svm {
  private readonly vm = new LiteSVM()
    // blockhashes and what was processed are the chain's
    .withBlockhashCheck(false)
    .withTransactionHistory(0n)
    .withNativeMints();

  /** Where litesvm's clock begins: its programs are known from then on. */
  readonly firstSlot = Number(this.vm.getClock().slot);

  get(key: string): Account | undefined {
    const account = this.vm.getAccount(address(key));
    return account.exists ? toAccount(account) : undefined;
  }

  /** Undefined: no such account. */
  set(key: string, account: Account | undefined): void {
    const { lamports: amount, data, owner, executable } = account ?? nothing;
    const fields = { lamports: lamports(amount), data, executable, space: BigInt(data.length) };
    this.vm.setAccount({ address: address(key), programAddress: address(owner), ...fields });
  }

  ownedBy(program: string): [string, Account][] {
    return this.vm.getProgramAccounts(address(program)).map((account) => [account.address, toAccount(account)]);
  }

  /** @param unixTime seconds */
  setClock(slot: number, unixTime: number): void {
    const epoch = BigInt(slot) / slotsPerEpoch;
    this.vm.setClock(new Clock(BigInt(slot), BigInt(unixTime), epoch, epoch + 1n, BigInt(unixTime)));
  }

  /** @returns lamports */
  rent(bytes: bigint): bigint {
    return this.vm.minimumBalanceForRentExemption(bytes);
  }

  /** Executes it on the accounts of now; the blockhash is not looked at. */
  execute({ transaction }: Decoded): Result {
    return this.signed(() => {
      const answer = this.vm.withSigverify(true).sendTransaction(transaction);
      return answer instanceof FailedTransactionMetadata
        ? toResult(answer.meta(), toErrorJson(answer.err()))
        : toResult(answer, null);
    });
  }

  simulate({ transaction }: Decoded, isVerified: boolean): Simulated {
    const result = this.signed((): Simulated => {
      const answer = this.vm.withSigverify(isVerified).simulateTransaction(transaction);
      if (answer instanceof FailedTransactionMetadata)
        return { ...toResult(answer.meta(), toErrorJson(answer.err())), accounts: new Map() };
      const accounts = answer.postAccounts().map((account) => [account.address, toAccount(account)] as const);
      return { ...toResult(answer.meta(), null), accounts: new Map<string, Account>(accounts) };
    });
    return { accounts: new Map<string, Account>(), ...result };
  }

  /** A signature that is missing is one that is wrong. */
  private signed<T extends Result>(run: () => T): T | Result {
    try {
      return run();
    } catch (error) {
      if (!isSolanaError(error, SOLANA_ERROR__TRANSACTION__SIGNATURES_MISSING)) throw error;
      return { err: 'SignatureFailure', logs: [], units: 0n, inner: [], returnData: undefined };
    }
  }
}

const nothing: Account = { lamports: 0n, data: Buffer.alloc(0), owner: '11111111111111111111111111111111', executable: false };

const toAccount = ({ lamports: amount, data, programAddress, executable }: EncodedAccount<Address>): Account => ({
  ...{ lamports: amount, data: Buffer.from(data), owner: programAddress, executable },
});

function toResult(meta: TransactionMetadata, err: Json): Result {
  const returned = Buffer.from(meta.returnData().data());
  const programId = toAddress(meta.returnData().programId());
  return {
    ...{ err, logs: meta.logs(), units: meta.computeUnitsConsumed() },
    inner: meta.innerInstructions().flatMap((instructions, index) => {
      const shown = instructions.map((entry) => ({
        programIdIndex: entry.instruction().programIdIndex(),
        accounts: [...entry.instruction().accounts()],
        data: base58(entry.instruction().data()),
        stackHeight: entry.stackHeight(),
      }));
      return shown.length === 0 ? [] : [{ index, instructions: shown }];
    }),
    returnData: returned.length === 0 ? undefined : { programId, data: [returned.toString('base64'), 'base64'] },
  };
}
