import { type Abi, type Address, concat, decodeFunctionData, getAddress, numberToHex, toFunctionSelector } from 'viem';
import type { Sponsoring } from '../../payments';
import { encodeSettlement, type SettledPayment, type SettlementCall } from './calldata';
import {
  eip3009Abi,
  exactProxyAbi,
  exactProxyAddress,
  multicall3Abi,
  multicall3Address,
  uptoProxyAbi,
  uptoProxyAddress,
} from './contracts';

export interface SettlementRead {
  payment: SettledPayment;
  /** Atomic units. */
  amount: bigint;
}

/** How the settling functions of a contract are read; every other function settles nothing. */
interface Reader {
  selectors: ReadonlySet<string>;
  read: (call: SettlementCall) => SettlementRead;
}

/** The functions that change the state of the chain: each of them settles. */
export const settlingFunctions = (abi: Abi): ReadonlySet<string> =>
  new Set(
    abi.flatMap((item) => (item.type === 'function' && item.stateMutability === 'nonpayable' ? [toFunctionSelector(item)] : [])),
  );

const tokenReader: Reader = { selectors: settlingFunctions(eip3009Abi), read: readAuthorization };
/** By address; every other contract is taken for a token. */
const readers: ReadonlyMap<string, Reader> = new Map([
  [exactProxyAddress, { selectors: settlingFunctions(exactProxyAbi), read: readExact }],
  [uptoProxyAddress, { selectors: settlingFunctions(uptoProxyAbi), read: readUpto }],
  [multicall3Address, { selectors: new Set(multicall3Abi.map(toFunctionSelector)), read: readAfterDeployment }],
]);

/**
 * The payment that a call settles, decoded from the call alone.
 * @param call to an address in EIP-55 form
 * @returns null for a call of anything but a settling function of the contract
 * @throws Error for calldata that is not exactly what encodeSettlement makes of that payment
 */
export function readSettlement(call: SettlementCall): SettlementRead | null {
  const settlement = readAnySettlement(call);
  if (!settlement) return null;
  const { to, data } = encodeSettlement(settlement.payment, settlement.amount);
  // the ABI decoder ignores dirty upper bytes, unusual offsets and trailing data: the decoded call would differ from the signed bytes
  if (to !== call.to || data !== call.data) throw new Error('the calldata is not canonical');
  return settlement;
}

/**
 * The same of a call that somebody else has made, who may have added to it or written it otherwise.
 * @throws Error for calldata that does not decode
 */
export function readAnySettlement(call: SettlementCall): SettlementRead | null {
  const { selectors, read } = readers.get(call.to) ?? tokenReader;
  return selectors.has(call.data.slice(0, 10)) ? read(call) : null;
}

function readAuthorization({ to, data }: SettlementCall): SettlementRead {
  const { functionName, args } = decodeFunctionData({ abi: eip3009Abi, data });
  if (functionName !== 'transferWithAuthorization') throw new Error(`${functionName} settles nothing`);
  const [payer, payTo, authorised, validAfter, validBefore, nonce] = args;
  const signature = args.length === 7 ? args[6] : concat([args[7], args[8], numberToHex(args[6], { size: 1 })]);
  const payment: SettledPayment = {
    method: 'eip3009',
    ...{ payer, payTo, authorised, validAfter, validBefore, nonce, signature },
    token: { contract: to },
    facilitator: null,
    sponsoring: { type: 'none' },
  };
  return { payment, amount: authorised };
}

/** The payer's wallet is created, then the payment is executed. The flags of the calls are compared when it is encoded again. */
function readAfterDeployment({ data }: SettlementCall): SettlementRead {
  const { args } = decodeFunctionData({ abi: multicall3Abi, data });
  const [creation, settlement, ...others] = args[0];
  if (!creation || !settlement || others.length > 0) throw new Error('a wallet is created and one payment executed');
  const call = { to: getAddress(settlement.target), data: settlement.callData };
  if (readers.has(call.to)) throw new Error('a wallet is created for authorisations of a token only');
  const read = readAnySettlement(call);
  if (!read) throw new Error('the second call settles nothing');
  const sponsoring = { type: 'deployment', factory: creation.target.toLowerCase(), data: creation.callData } as const;
  return { ...read, payment: { ...read.payment, sponsoring } };
}

function readExact({ data }: SettlementCall): SettlementRead {
  const call = decodeFunctionData({ abi: exactProxyAbi, data });
  if (call.functionName === 'PERMIT2') throw new Error('PERMIT2 settles nothing');
  const [allowance, permit, payer, witness, signature] =
    call.functionName === 'settle' ? ([null, ...call.args] as const) : call.args;
  const terms = { method: 'permit2_exact', payer, facilitator: null, signature } as const;
  const payment = toPayment(permit, witness, allowance, terms);
  return { payment, amount: payment.authorised };
}

function readUpto({ data }: SettlementCall): SettlementRead {
  const call = decodeFunctionData({ abi: uptoProxyAbi, data });
  if (call.functionName === 'PERMIT2') throw new Error('PERMIT2 settles nothing');
  const [allowance, permit, amount, payer, witness, signature] =
    call.functionName === 'settle' ? ([null, ...call.args] as const) : call.args;
  const terms = { method: 'permit2_upto', payer, facilitator: witness.facilitator, signature } as const;
  return { payment: toPayment(permit, witness, allowance, terms), amount };
}

interface Permit {
  permitted: { token: Address; amount: bigint };
  nonce: bigint;
  deadline: bigint;
}
type Allowance = Omit<Extract<Sponsoring, { type: 'permit' }>, 'type'>;

const toPayment = (
  { permitted, nonce, deadline: validBefore }: Permit,
  { to: payTo, validAfter }: { to: Address; validAfter: bigint },
  allowance: Allowance | null,
  terms: Pick<SettledPayment, 'method' | 'payer' | 'facilitator' | 'signature'>,
): SettledPayment => ({
  ...terms,
  ...{ payTo, validAfter, validBefore, nonce: nonce.toString(), authorised: permitted.amount },
  token: { contract: permitted.token },
  sponsoring: allowance ? { type: 'permit', ...allowance } : { type: 'none' },
});
