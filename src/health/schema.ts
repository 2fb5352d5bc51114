import Joi from 'joi';
import { view } from '../http/schemas';

export const aliveView = view<{ status: 'ok' }>('Alive', { status: Joi.string().valid('ok') });

export interface ReadyView {
  status: 'ok';
  checks: Record<string, boolean>;
}

export const readyView = view<ReadyView>('Ready', {
  status: Joi.string().valid('ok'),
  checks: Joi.object().pattern(Joi.string(), Joi.boolean()).description('database, temporal, signers and chain:<name>'),
});
