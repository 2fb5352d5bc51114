/** JSON as the node writes it: integers of 64 bits are numbers. */
import { randomUUID } from 'node:crypto';

export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json | undefined;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// what a request or a log says cannot contain it
const mark = randomUUID();
const marked = new RegExp(`"${mark}(-?\\d+)"`, 'g');

export const stringify = (value: Json): string =>
  JSON.stringify(value, (_, entry: unknown) => (typeof entry === 'bigint' ? `${mark}${entry}` : entry)).replaceAll(marked, '$1');

/** For files of our own: what was a bigint is one again. */
export const keep = (value: unknown): string =>
  JSON.stringify(value, (_, entry: unknown) => (typeof entry === 'bigint' ? { $bigint: String(entry) } : entry));

export const revive = (text: string): unknown =>
  JSON.parse(text, (_, entry: unknown) => (isObject(entry) && typeof entry.$bigint === 'string' ? BigInt(entry.$bigint) : entry));
