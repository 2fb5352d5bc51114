import { failureCodes } from '../../platform/codes';
import type { Json } from './components';

/** Every code of a refused request or a failed transfer. */
const failureCode: Json = {
  type: 'string',
  description: `Why a request was refused or a transfer failed; new codes may be added.\n\n${Object.entries(failureCodes)
    .map(([code, { status, title }]) => `- \`${code}\` (${status}): ${title}`)
    .join('\n')}`,
  enum: Object.keys(failureCodes),
};

const problemReason: Json = {
  type: 'string',
  enum: ['generating', 'suspended', 'key_not_attested', 'unknown_token', 'unknown_sender', 'asset_not_added'],
};

/** RFC 9457 problem document: the body of every error response. */
const problem: Json = {
  type: 'object',
  description: 'RFC 9457 problem document',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { $ref: '#/components/schemas/FailureCode' },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      description: 'Offending fields of invalid_parameter and external_id_in_use',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, message: { type: 'string' } },
        required: ['field', 'message'],
      },
    },
    tx_id: {
      type: 'string',
      format: 'uuid',
      description: 'With outcome_unknown of POST /transfer: read the outcome with GET /transactions/{tx_id}',
    },
    reason: {
      $ref: '#/components/schemas/ProblemReason',
      description:
        'With wallet_not_active: generating (try again after Retry-After), suspended or key_not_attested. With not_found of a transfer: unknown_token, unknown_sender or asset_not_added',
    },
    token_symbol: { type: 'string', description: 'With insufficient_balance: the coin or token that is short' },
    available: { type: 'string', description: 'With insufficient_balance: what is available of it, display units' },
    needed: {
      type: 'string',
      description: 'With insufficient_balance: what the transfer takes of it with its fee bound, display units',
    },
  },
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
};

export const problemSchemas = { Problem: problem, FailureCode: failureCode, ProblemReason: problemReason };
