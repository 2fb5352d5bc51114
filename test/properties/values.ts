import fc from 'fast-check';

/** The part of JSON Schema that the gateway's document uses. */
export interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

/** Existing values by the name of their field: ids of resources, enabled chains. */
export type Known = Record<string, unknown[]>;

/** Texts that often cause defects: control characters, unpaired surrogates, other scripts, other notations. */
const nastyText = fc.constantFrom(
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udfff',
  '\u202e\ufeff',
  '💥'.repeat(60),
  'é'.normalize('NFD'),
  '%00',
  '../../etc/passwd',
  "' or '1'='1",
  '{{7*7}}',
  '1e400',
  '9'.repeat(400),
  '-0',
  'NaN',
  '１２',
  '0x'.padEnd(42, '0'),
  'x'.repeat(256),
);

const surrogates = { first: 0xd800, count: 0x800 };
/** Any character, as `unit: 'binary'` of fast-check, which takes seconds and 100 MB for a table of all of them. */
export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (text) => {
    const codePoint = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (codePoint === undefined || text !== String.fromCodePoint(codePoint)) throw new Error('not one character');
    return codePoint < surrogates.first ? codePoint : codePoint - surrogates.count;
  },
);
export const anyText = fc.oneof(nastyText, fc.string({ unit: anyCharacter, maxLength: 40 }), fc.uuid());

/** Values that most fields must refuse. */
export const nasty: fc.Arbitrary<unknown> = fc.oneof(
  anyText,
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e308, 5e-324, Number.MAX_SAFE_INTEGER + 2, [], [[]], {}, [null]),
  fc.constantFrom<unknown>(
    { $ne: null },
    { constructor: { prototype: {} } },
    { length: 1e9 },
    ['a', 'b'],
    { toString: 1 },
    'x'.repeat(5_000),
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A value that the schema allows, sometimes at its limits; those of `known` more often than others. */
export function allowedBy(schema: Schema, name: string, known: Known): fc.Arbitrary<unknown> {
  const values = known[name];
  const made = madeFrom(schema, known);
  return values?.length ? fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: made }) : made;
}

function madeFrom(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  const choices =
    schema.anyOf ?? schema.oneOf ?? (Array.isArray(schema.type) && schema.type.map((type) => ({ ...schema, type })));
  if (choices) return fc.oneof(...choices.map((choice) => madeFrom(choice, known)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(madeFrom(schema.items ?? {}, known), { maxLength: 5 });
    case 'object':
      return objectOf(schema, known);
    default:
      return textOf(schema);
  }
}

function numberOf({ minimum = -1e9, maximum = 1e9 }: Schema): fc.Arbitrary<number> {
  return fc.oneof(fc.constantFrom(minimum, maximum), fc.integer({ min: minimum, max: Math.min(maximum, minimum + 2 ** 31) }));
}

export function objectOf({ properties = {}, required = [] }: Schema, known: Known): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(properties).map(([name, schema]) => [name, allowedBy(schema, name, known)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: required, noNullPrototype: true });
}

function textOf({ format, pattern, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid();
  if (pattern) return matching(pattern).map((text) => [...text].slice(0, maxLength).join(''));
  const length = Math.max(1, minLength);
  return fc.oneof(
    fc.string({ unit: 'grapheme-ascii', minLength: length, maxLength: Math.max(length, Math.min(maxLength, 60)) }),
    fc.constantFrom('a'.repeat(maxLength), 'é'.repeat(maxLength)),
  );
}

/** fast-check cannot generate text for every pattern (\p{…}): printable text then. */
function matching(pattern: string): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(new RegExp(pattern));
  } catch {
    return fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
  }
}
