/** Where the gateway deliberately answers something else than the official package (@x402/svm 2.27), and why. */
interface Group {
  why: string;
  /** By the name of the case: our verdict, and that of the package. */
  cases: Record<string, [ours: string, theirs: string]>;
}

const groups: Group[] = [
  {
    why: 'One thing has one name in both versions: the package has short ones for some in version 1.',
    cases: {
      'V1: fee payer is no address': [
        'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
        'fee_payer_not_managed_by_facilitator',
      ],
      'V1: fee payer asked for is no settler': [
        'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
        'fee_payer_not_managed_by_facilitator',
      ],
      'V1: the payer is no signer': ['invalid_exact_svm_transaction_simulation_failed', 'transaction_simulation_failed'],
      'V1: the settler is the only signer': ['invalid_exact_svm_transaction_simulation_failed', 'transaction_simulation_failed'],
      'V1: an old block': ['invalid_exact_svm_transaction_simulation_failed', 'transaction_simulation_failed'],
      'V1: an unknown block': ['invalid_exact_svm_transaction_simulation_failed', 'transaction_simulation_failed'],
      'V1: too few units': ['invalid_exact_svm_transaction_simulation_failed', 'transaction_simulation_failed'],
      'V1: to somebody without a token account': [
        'invalid_exact_svm_transaction_simulation_failed',
        'transaction_simulation_failed',
      ],
      'V1: under the wrong token program': ['invalid_exact_svm_transaction_simulation_failed', 'transaction_simulation_failed'],
      'V1: more than the payer has': ['invalid_exact_svm_transaction_simulation_failed', 'transaction_simulation_failed'],
      'V1: of somebody without tokens': ['invalid_exact_svm_transaction_simulation_failed', 'transaction_simulation_failed'],
      'V1: of somebody without a token account': [
        'invalid_exact_svm_transaction_simulation_failed',
        'transaction_simulation_failed',
      ],
      'V1: more than is allowed': ['invalid_exact_svm_transaction_simulation_failed', 'transaction_simulation_failed'],
      'V1: other decimals': ['invalid_exact_svm_transaction_simulation_failed', 'transaction_simulation_failed'],
      'V1: payer on another network': ['invalid_exact_svm_network_mismatch', 'network_mismatch'],
      'V1: payer in another scheme': ['invalid_exact_svm_unsupported_scheme', 'unsupported_scheme'],
    },
  },
  {
    why: 'A program that is given the settler as an account has its signature: the specification forbids it, the package looks at the authority alone.',
    cases: {
      'V1: the settler in a memo': ['invalid_exact_svm_smart_wallet_fee_payer_not_isolated', 'valid'],
      'V2: the settler in a memo': ['invalid_exact_svm_smart_wallet_fee_payer_not_isolated', 'valid'],
      'V1: the settler in a check': ['invalid_exact_svm_smart_wallet_fee_payer_not_isolated', 'valid'],
      'V2: the settler in a check': ['invalid_exact_svm_smart_wallet_fee_payer_not_isolated', 'valid'],
      'V1: the settler behind the authority': ['invalid_exact_svm_smart_wallet_fee_payer_not_isolated', 'valid'],
      'V2: the settler behind the authority': ['invalid_exact_svm_smart_wallet_fee_payer_not_isolated', 'valid'],
    },
  },
  {
    why: 'Each signature costs the settler 5,000 lamports: that of the payer and its own are enough. The package has no limit unless one is configured.',
    cases: {
      'V1: a third signer': ['invalid_exact_svm_payload_excessive_signers', 'valid'],
      'V2: a third signer': ['invalid_exact_svm_payload_excessive_signers', 'valid'],
      'V1: a third signer who has not signed': [
        'invalid_exact_svm_payload_excessive_signers',
        'invalid_exact_svm_payload_signature_invalid',
      ],
      'V2: a third signer who has not signed': [
        'invalid_exact_svm_payload_excessive_signers',
        'invalid_exact_svm_payload_signature_invalid',
      ],
    },
  },
  {
    why: 'Bytes that are not exactly one transaction are none: the network takes no others, whatever a simulation does.',
    cases: {
      'V1: a byte behind': [
        'invalid_exact_svm_payload_transaction_could_not_be_decoded',
        'invalid_exact_svm_payload_signature_invalid',
      ],
      'V2: a byte behind': [
        'invalid_exact_svm_payload_transaction_could_not_be_decoded',
        'invalid_exact_svm_payload_signature_invalid',
      ],
      'V1: a byte too few': [
        'invalid_exact_svm_payload_transaction_could_not_be_decoded',
        'invalid_exact_svm_payload_signature_invalid',
      ],
      'V2: a byte too few': [
        'invalid_exact_svm_payload_transaction_could_not_be_decoded',
        'invalid_exact_svm_payload_signature_invalid',
      ],
      'V1: a byte behind, signed': ['invalid_exact_svm_payload_transaction_could_not_be_decoded', 'valid'],
      'V2: a byte behind, signed': ['invalid_exact_svm_payload_transaction_could_not_be_decoded', 'valid'],
    },
  },
  {
    why: 'What a lookup table holds is for the chain to say and no payment needs one: none is resolved. The package has a text of the node behind its reason.',
    cases: {
      'V2: a lookup table': [
        'invalid_exact_svm_smart_wallet_alt_resolution_not_available',
        'invalid_exact_svm_smart_wallet_alt_resolution_failed: Accounts not found at addresses: cGfHiC6Kgg3FpFZvgwGcswsCRtp4aBP2fzuXRQPizuN',
      ],
    },
  },
  {
    why: 'The package throws, which the reference server answers with status 500.',
    cases: {
      'V1: an account that is not there': ['invalid_exact_svm_payload_transaction_could_not_be_decoded', 'throws'],
      'V2: an account that is not there': ['invalid_exact_svm_payload_transaction_could_not_be_decoded', 'throws'],
      'V1: in the scheme upto': ['unsupported_scheme', 'throws'],
      'V2: in the scheme upto': ['unsupported_scheme', 'throws'],
    },
  },
  {
    why: 'The payer names the priority fee and the settler pays it: the limits are those that the specification advises, not the far higher ones of the package.',
    cases: {
      'V1: a unit too many': ['invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high', 'valid'],
      'V2: a unit too many': ['invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high', 'valid'],
      'V1: a price too high': ['invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high', 'valid'],
      'V2: a price too high': ['invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high', 'valid'],
    },
  },
  {
    why: 'What moves no money to somebody else buys nothing, and the fee would be the settler’s.',
    cases: {
      'V1: to the payer himself': ['invalid_payment_requirements', 'valid'],
      'V1: to whom it is taken by': ['invalid_payment_requirements', 'valid'],
      'V2: to whom it is taken by': ['invalid_payment_requirements', 'valid'],
      'V2: to the payer himself': ['invalid_payment_requirements', 'valid'],
      'V1: from an account to itself, by somebody who is allowed to': ['invalid_payment_requirements', 'valid'],
      'V2: from an account to itself, by somebody who is allowed to': ['invalid_payment_requirements', 'valid'],
      'V1: nothing': ['invalid_payment_requirements', 'valid'],
      'V2: nothing': ['invalid_payment_requirements', 'valid'],
    },
  },
  {
    why: 'A settler is no party of a payment.',
    cases: {
      'V1: to the settler': ['invalid_payment_requirements', 'transaction_simulation_failed'],
      'V2: to the settler': ['invalid_payment_requirements', 'invalid_exact_svm_transaction_simulation_failed'],
    },
  },
  {
    why: 'A recipient that is no address is named as what it is, a mistake of the resource server.',
    cases: {
      'V1: recipient is no address': ['invalid_payment_requirements', 'invalid_exact_svm_payload_recipient_mismatch'],
      'V2: recipient is no address': ['invalid_payment_requirements', 'invalid_exact_svm_payload_recipient_mismatch'],
    },
  },
  {
    why: 'The token has to be one of the registry, in exactly its letters.',
    cases: {
      'V1: a token that is not registered asked for': ['invalid_payment_requirements', 'invalid_exact_svm_payload_mint_mismatch'],
      'V2: a token that is not registered asked for': ['invalid_payment_requirements', 'invalid_exact_svm_payload_mint_mismatch'],
      'V1: a token that is not registered': ['invalid_payment_requirements', 'valid'],
      'V2: a token that is not registered': ['invalid_payment_requirements', 'valid'],
      'V1: a token of the other program': ['invalid_payment_requirements', 'valid'],
      'V2: a token of the other program': ['invalid_payment_requirements', 'valid'],
      'V1: token in other letters': ['invalid_payment_requirements', 'invalid_exact_svm_payload_mint_mismatch'],
      'V2: token in other letters': ['invalid_payment_requirements', 'invalid_exact_svm_payload_mint_mismatch'],
    },
  },
  {
    why: 'What the payer says it has accepted has to agree with what is asked for; the package compares only the scheme and the network.',
    cases: {
      'V2: accepted another amount': ['invalid_exact_svm_payload_amount_mismatch', 'valid'],
      'V2: accepted another recipient': ['invalid_exact_svm_payload_recipient_mismatch', 'valid'],
      'V2: accepted another token': ['invalid_exact_svm_payload_mint_mismatch', 'valid'],
    },
  },
];

/** By the name of the case. */
export const differences: Readonly<Record<string, { ours: string; theirs: string; why: string }>> = Object.fromEntries(
  groups.flatMap(({ why, cases }) => Object.entries(cases).map(([name, [ours, theirs]]) => [name, { ours, theirs, why }])),
);
