import Joi from 'joi';
import { view } from '../http/schemas';

export interface TokenView {
  token: string;
  token_type: 'Bearer';
  expires_in: number;
}

export const tokenView = view<TokenView>('Token', {
  token: Joi.string().description('JWT access token'),
  token_type: Joi.string().valid('Bearer'),
  expires_in: Joi.number().integer().description('Seconds until it expires; there are no refresh tokens: request another token'),
});
