/** java-tron: api.proto, Return.response_code. */
export type ResponseCode =
  | 'SIGERROR'
  | 'CONTRACT_VALIDATE_ERROR'
  | 'CONTRACT_EXE_ERROR'
  | 'BANDWITH_ERROR'
  | 'DUP_TRANSACTION_ERROR'
  | 'TAPOS_ERROR'
  | 'TOO_BIG_TRANSACTION_ERROR'
  | 'TRANSACTION_EXPIRATION_ERROR'
  | 'SERVER_BUSY'
  | 'OTHER_ERROR';

/**
 * The network does not take the transaction. The message is what java-tron answers (Wallet.broadcastTransaction); the reason is the
 * text of the exception within.
 */
export class Refusal extends Error {
  override readonly message: string;

  constructor(
    readonly code: ResponseCode,
    readonly reason: string,
  ) {
    super(reason);
    this.message = messages[code]?.(reason) ?? reason;
  }
}

const messages: Partial<Record<ResponseCode, (reason: string) => string>> = {
  SIGERROR: (reason) => `Validate signature error: ${reason}`,
  CONTRACT_VALIDATE_ERROR: (reason) => `Contract validate error : ${reason}`,
  CONTRACT_EXE_ERROR: (reason) => `Contract execute error : ${reason}`,
  BANDWITH_ERROR: () => 'Account resource insufficient error.',
  // the other one is that of an endpoint that remembers ids
  DUP_TRANSACTION_ERROR: (reason) => (reason.startsWith('dup trans') ? 'Dup transaction.' : reason),
  TAPOS_ERROR: () => 'Tapos check error.',
  TRANSACTION_EXPIRATION_ERROR: () => 'Transaction expired',
  SERVER_BUSY: () => 'Server busy.',
  OTHER_ERROR: (reason) => `Error: ${reason}`,
};

export const invalid = (reason: string): Refusal => new Refusal('CONTRACT_VALIDATE_ERROR', reason);
