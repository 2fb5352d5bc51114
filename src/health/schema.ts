import Joi from 'joi';
import { view } from '../http/schemas';

export const aliveView = view<{ status: 'ok' }>('Alive', { status: Joi.string().valid('ok') });

export interface ReadyView {
  status: 'ok';
  checks: Record<string, boolean>;
}

export const readyView = view<ReadyView>('Ready', {
  status: Joi.string().valid('ok'),
  checks: Joi.object({
    database: Joi.boolean().required(),
    temporal: Joi.boolean().required(),
    signers: Joi.boolean().required(),
  })
    .unknown()
    .description('Also chain:<name> for every chain'),
});
