import Joi from 'joi';
import { view } from '../http/schemas';

const status = () => ({ status: Joi.string().valid('ok') });

export const aliveView = view<{ status: 'ok' }>('Alive', status());
export const readyView = view<{ status: 'ok' }>('Ready', status());
