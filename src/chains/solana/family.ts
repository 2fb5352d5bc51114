import { GatewayError } from '../../platform/errors';
import type { Family } from '../family';
import { findFeeLevels } from '../fee-levels';
import { createSolanaCodec } from './codec';
import { isOnCurve, toBytes } from './codec/address';
import { maxFee, minimumBalance, solanaFees } from './fees';
import { networks, type SolanaNetwork } from './network';
import { maxPaymentPrice, maxPaymentUnits, maxSigners } from './payments/limits';

/**
 * A Solana cluster: a transaction uses nothing up, and expires with its block hash. The same bytes are sent again when stuck; once they have
 * expired and no block holds their message, a new one is made; when abandoned, their expiry is waited for.
 */
const createSolanaFamily = (network: SolanaNetwork): Family => ({
  name: network.family,
  rules: { stuck: 'rebroadcast', expired: 'reissue', abandoned: 'expiry' },
  // only the payer could sign another message
  settlementRules: { stuck: 'rebroadcast', expired: 'fail', abandoned: 'expiry' },
  maxOpenSettlements: 50,
  keyProtocol: 'frost-ed25519',
  addressOnManyChains: false,
  tokenType: 'SPL',
  carriesMemo: true,
  hasProgramAddresses: true,
  minimumBalance,
  // a recipient that is new to the chain has to keep it
  smallestPayment: minimumBalance,
  fees: solanaFees,
  ...createSolanaCodec(network),
  bound: async (manager, { chain, source, token, outputs, action, allowsProgram = false, levels }) => {
    if (action?.type === 'settlement') return maxSettlementFee;
    for (const { recipient } of outputs) assertPayable(toBytes(recipient), source.addressKey, allowsProgram);
    return solanaFees.bound(chain, token, levels ?? (await findFeeLevels(manager, chain)));
  },
  reserve: () => Promise.resolve({ outcome: 'reserved', resources: [] }),
});

/** The payer chooses the priority fee, within caps. */
const maxSettlementFee = maxFee({ units: maxPaymentUnits, price: maxPaymentPrice, creates: null, signatures: maxSigners });

function assertPayable(recipient: Buffer, ownKey: string, allowsProgram: boolean): void {
  if (recipient.toString('hex') === ownKey) throw new GatewayError('business_error', 'Nothing can be sent to the account itself');
  // token accounts are among them: what is sent to one may be lost
  if (!allowsProgram && !isOnCurve(recipient))
    throw new GatewayError(
      'business_error',
      'The recipient is an account of a program and no wallet. Of a token account name the owner; allow_program_address pays to any other',
    );
}

export const solanaFamilies: readonly Family[] = networks.map(createSolanaFamily);
