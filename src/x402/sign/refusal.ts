import { GatewayError } from '../../platform/errors';

/** What the rules of a transfer say about its recipient, by the name that the recipient of a payment has in the client's request. */
export const nameRecipient = (text: string): string => text.replace(/^to_address\b/, 'paymentRequirements.payTo');

/** A refusal by the rules of a transfer, naming the fields that the client has sent; any other error as it is. */
export function toPaymentRefusal(error: unknown): unknown {
  if (!(error instanceof GatewayError) || !error.fields) return error;
  const fields = error.fields.map(({ field, message }) => ({ field: nameRecipient(field), message }));
  return new GatewayError(error.code, nameRecipient(error.message), { cause: error, fields });
}
