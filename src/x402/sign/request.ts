import { invalidAddress } from '../../chains/invalid-address';
import { findAuthoriser } from '../../chains/payment-methods';
import { isJsonObject } from '../../chains/json';
import type { PaymentScheme } from '../../chains/payments';
import { tokenByContract } from '../../chains/registry';
import { assertNoTokenContract } from '../../chains/token-contracts';
import type { AuthorisationAction, ChainDefinition, JsonObject, TokenDefinition } from '../../chains/types';
import { type GatewayError, invalidParameter } from '../../platform/errors';
import { formatAmount } from '../../platform/money';
import { parseAddressLenient } from '../../chains/lenient-address';
import type { ParsedTransfer, TransferParser } from '../../transfers/accept/request';
import { findNetwork } from '../wire/network';
import { readTerms, type WireTerms } from '../wire/terms';
import type { SignPayment } from './schema';
import { maxSeconds } from './window';

/** A payment that a client asks to have authorised; what the resource server gets back is as the client has written it. */
export interface ParsedPayment {
  parsed: ParsedTransfer;
  version: 1 | 2;
  action: AuthorisationAction;
  requirements: JsonObject;
  resource: JsonObject | null;
  extensions: JsonObject | null;
}

/** Who asks, and under which key. */
export interface SignRequest {
  txId: string;
  clientId: string;
  userId: string;
  requestId: string;
  idempotencyKey: string | null;
}

/** The amount is held until the payment is carried out or can be no more. */
const seconds = { least: 10, most: maxSeconds };
/** Characters of what is kept and repeated. */
const maxKept = 32_768;

/** What a resource server can ask for without an escrow: the payment is settled once, before or after what it pays for. */
const flows: readonly unknown[] = [undefined, null, 'authorization', 'upfront'];

/**
 * The checks that need no database.
 * @throws GatewayError invalid_parameter or invalid_address naming the field
 */
export function parsePayment({ registry, getFamily }: TransferParser, request: SignRequest, input: SignPayment): ParsedPayment {
  const { x402Version: version, paymentRequirements, resource = null, extensions = null } = input;
  const requirements = paymentRequirements as JsonObject;
  const amountField = version === 1 ? 'maxAmountRequired' : 'amount';
  const terms = readTerms(requirements, amountField);
  // the schema has the other fields checked
  if (!terms) throw invalid(amountField, 'must be a whole number of atomic units, as text');
  for (const [field, kept] of Object.entries({ paymentRequirements: requirements, resource, extensions }))
    if (JSON.stringify(kept).length > maxKept) throw invalidParameter(field, `is longer than ${maxKept} characters`);
  const { chain, token } = findAsset({ registry, getFamily }, version, terms);
  const family = getFamily(chain.family);
  const from = parseAddressLenient(family, input.payer);
  if (!from) throw invalidAddress('payer', input.payer, chain, family);
  const { action } = planAuthorisation(chain, token, { version, payer: from.address, terms, requirements, extensions });
  const to = family.parseAddress(terms.payTo);
  if (!to) throw invalidAddress('paymentRequirements.payTo', terms.payTo, chain, family);
  if (to.key === from.key) throw invalid('payTo', 'must differ from payer');
  assertNoTokenContract('paymentRequirements.payTo', to.address, chain);
  const { amount } = terms;
  const transfer = {
    ...{ ...request, fromAddress: input.payer, toAddress: terms.payTo, chain: chain.name, tokenSymbol: token.symbol },
    ...{
      amount: formatAmount(amount, token.decimals),
      externalId: null,
      retryOf: null,
      memo: null,
      memoOnChain: false,
      allowsProgram: false,
    },
  };
  const parsed = { request: transfer, chain, token, from, to, amount };
  const kept = { requirements, resource: resource as JsonObject | null, extensions: extensions as JsonObject | null };
  return { parsed, version, action, ...kept };
}

function findAsset(
  { registry, getFamily }: TransferParser,
  version: 1 | 2,
  { network, asset, amount }: WireTerms,
): { chain: ChainDefinition; token: TokenDefinition } {
  const found = findNetwork(network, version, registry);
  if (!('chain' in found)) throw invalid('network', 'is not an enabled chain');
  const token = tokenByContract(found.chain, asset);
  const family = getFamily(found.chain.family);
  // letters of another case make another address in some families
  const isSame = token?.contract && family.parseAddress(token.contract)?.key === parseAddressLenient(family, asset)?.key;
  if (!token || !isSame) throw invalid('asset', `is not a registered token of ${found.chain.name}`);
  if (amount === 0n) throw invalid(version === 1 ? 'maxAmountRequired' : 'amount', 'must be greater than 0');
  return { chain: found.chain, token };
}

interface Asked {
  version: 1 | 2;
  /** In the form shown to clients. */
  payer: string;
  terms: WireTerms;
  requirements: JsonObject;
  extensions: unknown;
}

function planAuthorisation(
  chain: ChainDefinition,
  token: TokenDefinition,
  { version, payer, terms, requirements, extensions }: Asked,
) {
  const { scheme, extra } = terms;
  const { maxTimeoutSeconds } = requirements;
  const isInTime =
    Number.isInteger(maxTimeoutSeconds) &&
    Number(maxTimeoutSeconds) >= seconds.least &&
    Number(maxTimeoutSeconds) <= seconds.most;
  if (!isInTime) throw invalid('maxTimeoutSeconds', `must be an integer from ${seconds.least} to ${seconds.most}`);
  const authoriser = findAuthoriser(chain.family);
  if (!authoriser) throw invalid('network', `accounts on ${chain.name} authorise no payments`);
  if (!isScheme(scheme) || (version === 1 && scheme !== 'exact')) throw invalid('scheme', 'is not supported');
  if (!flows.includes(extra.paymentFlow)) throw invalid('extra.paymentFlow', 'is not supported');
  const takesPermit = version === 2 && isJsonObject(extensions) && isJsonObject(extensions.eip2612GasSponsoring);
  const plan = authoriser.plan({ version, scheme, payer, token, extra, seconds: Number(maxTimeoutSeconds), takesPermit });
  if ('field' in plan) throw invalid(plan.field, plan.problem);
  if (version === 1 && plan.payloadType === 'permit2')
    throw invalid('extra.assetTransferMethod', 'is not supported in version 1');
  return plan;
}

const isScheme = (scheme: string): scheme is PaymentScheme => scheme === 'exact' || scheme === 'upto';

const invalid = (field: string, problem: string): GatewayError => invalidParameter(`paymentRequirements.${field}`, problem);
