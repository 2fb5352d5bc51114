import Joi from 'joi';
import type { Prepared } from '../../chains/types';
import type { BeginSigning } from '../../messages/transfer';
import { reader } from '../../platform/untrusted';

/** Anyone who reaches Temporal can schedule this call: a field that is not known is refused. */
const schema = Joi.object<BeginSigning>({
  txId: Joi.string().uuid().required(),
  lastAttempt: Joi.number().integer().min(0).max(1_000_000).required(),
  kind: Joi.string().valid('first', 'replacement', 'reissue', 'cancellation', 'resume').required(),
  prepared: Joi.object<Prepared>({
    feeBound: Joi.string()
      .pattern(/^(0|[1-9]\d{0,77})$/)
      .required(),
    expiry: Joi.object().allow(null).required(),
    // the family's own: its codec reads it
    details: Joi.any().required(),
  }).when('kind', { is: 'resume', then: Joi.forbidden(), otherwise: Joi.required() }),
}).required();

export const readBeginSigning = reader(schema);
