import { NoAnswer } from './no-answer';
import type { JsonObject } from './types';

/** Of an endpoint's response, in UTF-8. @throws NoAnswer */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new NoAnswer('the response is no JSON');
  }
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
