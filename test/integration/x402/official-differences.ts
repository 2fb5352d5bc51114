/** Where the gateway deliberately answers something else than the official package (@x402/evm 2.27), and why. */
interface Group {
  why: string;
  /** By the name of the case: our verdict, and that of the package. */
  cases: Record<string, [ours: string, theirs: string]>;
}

const groups: Group[] = [
  {
    why: 'Addresses are taken in any letter case.',
    cases: {
      'eip3009 V1: payer in upper case': ['valid', 'invalid_exact_evm_signature'],
      'eip3009: payer in upper case': ['valid', 'invalid_exact_evm_signature'],
    },
  },
  {
    why: 'The registry knows the domain of its tokens; half of a domain is refused by both.',
    cases: {
      'eip3009 V1: no domain': ['valid', 'invalid_exact_evm_missing_eip712_domain'],
      'eip3009: no domain': ['valid', 'invalid_exact_evm_missing_eip712_domain'],
    },
  },
  {
    why: 'Terms are compared before the signature, which needs the chain: both are wrong here.',
    cases: {
      'eip3009 V1: to changed after it was signed': ['invalid_exact_evm_recipient_mismatch', 'invalid_exact_evm_signature'],
      'eip3009: to changed after it was signed': ['invalid_exact_evm_recipient_mismatch', 'invalid_exact_evm_signature'],
      'eip3009 V1: value changed after it was signed': ['invalid_exact_evm_authorization_value', 'invalid_exact_evm_signature'],
      'eip3009: value changed after it was signed': [
        'invalid_exact_evm_payload_authorization_value_mismatch',
        'invalid_exact_evm_signature',
      ],
      'eip3009 V1: another token asked for': ['invalid_exact_evm_eip3009_not_supported', 'invalid_exact_evm_signature'],
      'eip3009: another token asked for': ['invalid_exact_evm_eip3009_not_supported', 'invalid_exact_evm_signature'],
    },
  },
  {
    why: 'Nothing is bought for nothing, and the fee would be paid for it.',
    cases: {
      'eip3009 V1: signed and asked for 0': ['invalid_payment_requirements', 'valid'],
      'eip3009: signed and asked for 0': ['invalid_payment_requirements', 'valid'],
    },
  },
  {
    why: 'What a contract has reverted with is a reason; the package says only that it would revert.',
    cases: {
      'permit2: v of 0 or 1': ['invalid_permit2_signature', 'permit2_simulation_failed'],
      'upto: v of 0 or 1': ['invalid_permit2_signature', 'permit2_simulation_failed'],
      'permit2: signed and asked for 0': ['permit2_invalid_amount', 'permit2_simulation_failed'],
      'upto: signed and asked for 0': ['permit2_invalid_amount', 'permit2_simulation_failed'],
      'permit2: executed before': ['permit2_invalid_nonce', 'permit2_simulation_failed'],
      'upto: executed before': ['permit2_invalid_nonce', 'permit2_simulation_failed'],
    },
  },
  {
    why: 'Somebody who pays itself buys nothing, and the fee would be paid for it.',
    cases: {
      'eip3009 V1: to itself': ['invalid_payment_requirements', 'valid'],
      'eip3009: to itself': ['invalid_payment_requirements', 'valid'],
      'permit2: to itself': ['invalid_payment_requirements', 'valid'],
      'upto: to itself': ['invalid_payment_requirements', 'valid'],
    },
  },
  {
    why: 'A recipient of zero is found before the chain is asked.',
    cases: {
      'eip3009 V1: to nobody': ['invalid_payment_requirements', 'invalid_exact_evm_transaction_simulation_failed'],
      'eip3009: to nobody': ['invalid_payment_requirements', 'invalid_exact_evm_transaction_simulation_failed'],
      'permit2: to nobody': ['invalid_payment_requirements', 'permit2_simulation_failed'],
      'upto: to nobody': ['invalid_payment_requirements', 'permit2_simulation_failed'],
    },
  },
  {
    why: 'Only tokens of the registry are settled.',
    cases: {
      'eip3009 V1: a token that is no contract': ['invalid_payment_requirements', 'valid'],
      'eip3009: a token that is no contract': ['invalid_payment_requirements', 'asset_not_deployed_contract'],
      'permit2: a token that is no contract': ['invalid_payment_requirements', 'asset_not_deployed_contract'],
      'upto: a token that is no contract': ['invalid_payment_requirements', 'asset_not_deployed_contract'],
    },
  },
  {
    why: 'What the payer says that it has accepted is compared with what is asked for.',
    cases: {
      'eip3009: accepted another amount': ['invalid_exact_evm_payload_authorization_value_mismatch', 'valid'],
      'permit2: accepted another amount': ['permit2_amount_mismatch', 'valid'],
      'upto: accepted another amount': ['permit2_amount_mismatch', 'valid'],
      'eip3009: accepted another recipient': ['invalid_exact_evm_recipient_mismatch', 'valid'],
      'permit2: accepted another recipient': ['invalid_permit2_recipient_mismatch', 'valid'],
      'upto: accepted another recipient': ['invalid_permit2_recipient_mismatch', 'valid'],
      'eip3009: accepted another token': ['invalid_payment_requirements', 'valid'],
      'permit2: accepted another token': ['permit2_token_mismatch', 'valid'],
      'upto: accepted another token': ['permit2_token_mismatch', 'valid'],
    },
  },
  {
    why: 'The specification lets requirements be left out in version 2; what was accepted stands for them.',
    cases: {
      'eip3009: no requirements': ['valid', 'throws'],
      'permit2: no requirements': ['valid', 'throws'],
      'upto: no requirements': ['valid', 'throws'],
    },
  },
  {
    why: 'What is to be paid of an upto payment is checked with it, and only the resource server may say it.',
    cases: {
      'upto: more than all to be paid': ['invalid_upto_evm_payload_settlement_exceeds_amount', 'valid'],
      'upto: the payer alone says what is to be paid': ['invalid_payment_requirements', 'valid'],
    },
  },
  {
    why: 'CAIP-2 and names are both taken in version 1.',
    cases: {
      'eip3009 V1: CAIP-2': ['valid', 'throws'],
    },
  },
  {
    why: 'A permit that could not give the allowance has a reason of its own.',
    cases: {
      'permit2: with a permit, with a broken signature': ['invalid_eip2612_extension_format', 'permit2_allowance_required'],
      'permit2: with a permit, over less': ['permit2_2612_amount_mismatch', 'permit2_allowance_required'],
      'upto: with a permit, with a broken signature': ['invalid_eip2612_extension_format', 'permit2_allowance_required'],
      'upto: with a permit, over less': ['permit2_2612_amount_mismatch', 'permit2_allowance_required'],
    },
  },
  {
    why: 'The transaction of an approval is sent as it is, before the payment: one that this chain does not execute next, or that costs more than an approval, is refused.',
    cases: {
      'permit2: with an approval, whose transaction is for another chain': ['erc20_approval_tx_parse_failed', 'valid'],
      'permit2: with an approval, of a nonce that is not the next': ['erc20_approval_tx_parse_failed', 'valid'],
      'permit2: with an approval, with more gas than an approval takes': ['erc20_approval_tx_parse_failed', 'valid'],
      'upto: with an approval, whose transaction is for another chain': ['erc20_approval_tx_parse_failed', 'valid'],
      'upto: with an approval, of a nonce that is not the next': ['erc20_approval_tx_parse_failed', 'valid'],
      'upto: with an approval, with more gas than an approval takes': ['erc20_approval_tx_parse_failed', 'valid'],
    },
  },
  {
    why: 'What a wallet that is to be created says about the signature is asked (ERC-6492), and why there is none; the package says only that the payment would fail.',
    cases: {
      'eip3009 V1: of a wallet to be created, signed by somebody else': [
        'invalid_exact_evm_signature',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009: of a wallet to be created, signed by somebody else': [
        'invalid_exact_evm_signature',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009 V1: of a wallet to be created, signed for another chain': [
        'invalid_exact_evm_signature',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009: of a wallet to be created, signed for another chain': [
        'invalid_exact_evm_signature',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009 V1: of a wallet to be created, wrapped twice': [
        'invalid_exact_evm_signature',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009: of a wallet to be created, wrapped twice': [
        'invalid_exact_evm_signature',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009 V1: of a wallet to be created, by a call that reverts': [
        'smart_wallet_deployment_failed',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009: of a wallet to be created, by a call that reverts': [
        'smart_wallet_deployment_failed',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009 V1: of a wallet to be created, by no call': [
        'smart_wallet_deployment_failed',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009: of a wallet to be created, by no call': [
        'smart_wallet_deployment_failed',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009 V1: of a wallet to be created, by a call that creates another one': [
        'smart_wallet_deployment_failed',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
      'eip3009: of a wallet to be created, by a call that creates another one': [
        'smart_wallet_deployment_failed',
        'invalid_exact_evm_transaction_simulation_failed',
      ],
    },
  },
  {
    why: 'A key needs no factory, which would be called at the cost of the house.',
    cases: {
      'eip3009 V1: of a key, wrapped for the factory': ['smart_wallet_deployment_failed', 'valid'],
      'eip3009: of a key, wrapped for the factory': ['smart_wallet_deployment_failed', 'valid'],
    },
  },
  {
    why: 'The package throws, which the reference server answers 500; here it is a reason.',
    cases: {
      'eip3009 V1: a broken wrapper': ['invalid_exact_evm_failed_to_parse_signature', 'throws'],
      'eip3009: a broken wrapper': ['invalid_exact_evm_failed_to_parse_signature', 'throws'],
      'eip3009 V1: value of "1.5"': ['invalid_payload', 'throws'],
      'eip3009: value of "1.5"': ['invalid_payload', 'throws'],
      'permit2: value of "1.5"': ['invalid_payload', 'throws'],
      'upto: value of "1.5"': ['invalid_payload', 'throws'],
      'eip3009 V1: value of "1e3"': ['invalid_payload', 'throws'],
      'eip3009: value of "1e3"': ['invalid_payload', 'throws'],
      'permit2: value of "1e3"': ['invalid_payload', 'throws'],
      'upto: value of "1e3"': ['invalid_payload', 'throws'],
      'eip3009 V1: value of "ten"': ['invalid_payload', 'throws'],
      'eip3009: value of "ten"': ['invalid_payload', 'throws'],
      'permit2: value of "ten"': ['invalid_payload', 'throws'],
      'upto: value of "ten"': ['invalid_payload', 'throws'],
      'eip3009 V1: recipient is no address': ['invalid_payment_requirements', 'throws'],
      'eip3009: recipient is no address': ['invalid_payment_requirements', 'throws'],
      'permit2: recipient is no address': ['invalid_payment_requirements', 'throws'],
      'upto: recipient is no address': ['invalid_payment_requirements', 'throws'],
      'eip3009 V1: a token that is no address': ['invalid_payment_requirements', 'throws'],
      'eip3009: a token that is no address': ['invalid_payment_requirements', 'throws'],
      'permit2: a token that is no address': ['invalid_payment_requirements', 'throws'],
      'upto: a token that is no address': ['invalid_payment_requirements', 'throws'],
      'eip3009 V1: no requirements': ['invalid_payment_requirements', 'throws'],
      'eip3009 V1: a network that is not there': ['invalid_network', 'throws'],
      'eip3009: a network that is not there': ['invalid_network', 'throws'],
      'permit2: a network that is not there': ['invalid_network', 'throws'],
      'upto: a network that is not there': ['invalid_network', 'throws'],
      'eip3009 V1: a scheme that is not there': ['unsupported_scheme', 'throws'],
      'eip3009: a scheme that is not there': ['unsupported_scheme', 'throws'],
      'permit2: a scheme that is not there': ['unsupported_scheme', 'throws'],
      'upto: a scheme that is not there': ['unsupported_scheme', 'throws'],
      'permit2: no to': ['invalid_payload', 'throws'],
      'eip3009 V1: no value': ['invalid_payload', 'throws'],
      'eip3009: no value': ['invalid_payload', 'throws'],
      'permit2: no value': ['invalid_payload', 'throws'],
      'permit2: no nonce': ['invalid_payload', 'throws'],
      'eip3009 V1: no after': ['invalid_payload', 'throws'],
      'eip3009: no after': ['invalid_payload', 'throws'],
      'permit2: no after': ['invalid_payload', 'throws'],
      'eip3009 V1: no before': ['invalid_payload', 'throws'],
      'eip3009: no before': ['invalid_payload', 'throws'],
      'permit2: no before': ['invalid_payload', 'throws'],
      'eip3009: as version 1': ['invalid_payload', 'throws'],
      'eip3009 V1: as version 2': ['invalid_payload', 'throws'],
      'permit2: as version 1': ['unsupported_payload_type', 'throws'],
      'eip3009 V1: requirements of version 2': ['invalid_payment_requirements', 'throws'],
      'eip3009: requirements of version 1': ['invalid_payment_requirements', 'throws'],
      'eip3009: name of version 1': ['invalid_network', 'throws'],
      'eip3009: version 3': ['invalid_x402_version', 'throws'],
    },
  },
  {
    why: 'The package takes what is not well formed for a wrong value, a wrong signature or another kind of payload.',
    cases: {
      'eip3009 V1: value of "-1"': ['invalid_payload', 'invalid_exact_evm_signature'],
      'eip3009: value of "-1"': ['invalid_payload', 'invalid_exact_evm_signature'],
      'permit2: value of "-1"': ['invalid_payload', 'permit2_amount_mismatch'],
      'upto: value of "-1"': ['invalid_payload', 'permit2_amount_mismatch'],
      'eip3009 V1: value of ""': ['invalid_payload', 'invalid_exact_evm_signature'],
      'eip3009: value of ""': ['invalid_payload', 'invalid_exact_evm_signature'],
      'permit2: value of ""': ['invalid_payload', 'permit2_amount_mismatch'],
      'upto: value of ""': ['invalid_payload', 'permit2_amount_mismatch'],
      'eip3009 V1: value of "115792089"': ['invalid_payload', 'invalid_exact_evm_signature'],
      'eip3009: value of "115792089"': ['invalid_payload', 'invalid_exact_evm_signature'],
      'permit2: value of "115792089"': ['invalid_payload', 'permit2_amount_mismatch'],
      'upto: value of "115792089"': ['invalid_payload', 'permit2_amount_mismatch'],
      'eip3009 V1: value of "999999999"': ['invalid_payload', 'invalid_exact_evm_signature'],
      'eip3009: value of "999999999"': ['invalid_payload', 'invalid_exact_evm_signature'],
      'permit2: value of "999999999"': ['invalid_payload', 'permit2_amount_mismatch'],
      'upto: value of "999999999"': ['invalid_payload', 'permit2_amount_mismatch'],
      'eip3009 V1: no from': ['invalid_payload', 'invalid_exact_evm_signature'],
      'eip3009: no from': ['invalid_payload', 'invalid_exact_evm_signature'],
      'permit2: no from': ['invalid_payload', 'invalid_permit2_signature'],
      'upto: no from': ['invalid_payload', 'unsupported_payload_type'],
      'eip3009 V1: no to': ['invalid_payload', 'invalid_exact_evm_signature'],
      'eip3009: no to': ['invalid_payload', 'invalid_exact_evm_signature'],
      'upto: no to': ['invalid_payload', 'unsupported_payload_type'],
      'upto: no value': ['invalid_payload', 'unsupported_payload_type'],
      'eip3009 V1: no nonce': ['invalid_payload', 'invalid_exact_evm_signature'],
      'eip3009: no nonce': ['invalid_payload', 'invalid_exact_evm_signature'],
      'upto: no nonce': ['invalid_payload', 'unsupported_payload_type'],
      'upto: no after': ['invalid_payload', 'unsupported_payload_type'],
      'upto: no before': ['invalid_payload', 'unsupported_payload_type'],
    },
  },
];

/** By the name of the case. */
export const differences: Readonly<Record<string, { ours: string; theirs: string; why: string }>> = Object.fromEntries(
  groups.flatMap(({ why, cases }) => Object.entries(cases).map(([name, [ours, theirs]]) => [name, { ours, theirs, why }])),
);
