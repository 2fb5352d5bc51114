import type { EntityManager } from 'typeorm';
import { audit } from '../../audit/log';
import { allInOrder } from '../../platform/all-in-order';
import { GatewayError } from '../../platform/errors';
import { type Destination, evaluateDestination } from '../../screening/destinations';
import { checkLimits } from './limits';
import { type ParsedTransfer, toActor } from './request';
import type { TransferSource } from './source';

/** Rules that a client has set for its own transfers. They do not apply to transfers of the house, such as a sweep. */

/**
 * The client's address lists and the wallet's limits, for a transfer whose row is stored or about to be. `readOnly`: nothing is locked.
 * @throws GatewayError address_blacklisted, address_not_whitelisted, business_error.
 */
export async function checkClientRules(
  manager: EntityManager,
  { request, chain, to, amount }: ParsedTransfer,
  { account, token }: TransferSource,
  options: { readOnly?: boolean } = {},
): Promise<'allowed' | 'needs_approval'> {
  const { txId, clientId } = request;
  const { symbol, decimals } = token;
  const [outcome] = await allInOrder([
    checkDestination(manager, { clientId, chain: chain.name, addressKey: to.key }),
    checkLimits(manager, { txId, walletId: account.walletId, symbol, amount, decimals, isAccepted: false }, options),
  ]);
  return outcome;
}

async function checkDestination(manager: EntityManager, destination: Destination): Promise<'allowed' | 'needs_approval'> {
  const verdict = await evaluateDestination(manager, destination);
  if (verdict.outcome !== 'refused') return verdict.outcome;
  const { code, reason } = verdict;
  throw new GatewayError(code, reason, { fields: [{ field: 'to_address', message: reason.replace(/^to_address /, '') }] });
}

/** Refusals because of the destination are written to the audit log; other refusals change nothing that is relevant to an audit. */
export const isAudited = ({ code }: GatewayError): boolean =>
  code === 'address_blacklisted' || code === 'address_not_whitelisted';

/** Writes the audit row of a refusal that has one. */
export async function recordRefusal(manager: EntityManager, parsed: ParsedTransfer, refusal: GatewayError): Promise<void> {
  if (!isAudited(refusal)) return;
  const { request, chain, from, to } = parsed;
  await audit(manager, {
    actor: toActor(request),
    clientId: request.clientId,
    action: 'transfer.refused',
    outcome: 'refused',
    subject: { type: 'address', id: to.address },
    detail: {
      code: refusal.code,
      chain: chain.name,
      from_address: from.address,
      token_symbol: request.tokenSymbol,
      amount: request.amount,
    },
    requestId: request.requestId,
  });
}
