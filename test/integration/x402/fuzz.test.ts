import fc from 'fast-check';
import type { Hex } from 'viem';
import { mintToken } from '../../../dev/chain';
import { isJsonObject } from '../../../src/chains/json';
import type { JsonObject, JsonValue } from '../../../src/chains/types';
import { anyCharacter, nasty } from '../../properties/values';
import { change, permitInfo } from '../../unit/x402/bodies';
import { type UncreatedWallet, walletFactory, walletOf, wrapSignature } from '../../wallet-factory';
import { draft, type Kind, sign } from '../../x402';
import { setFeeLevels } from '../../factories';
import { base, openShop, type SellerScene } from './seller';

/** Repeats a run, and makes it longer. */
const seed = Number(process.env.PROPERTY_SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env.X402_FUZZ_RUNS ?? 1000);
const timeoutMs = 120_000 + runs * 100;

/** More than all settlements may cost together. */
const coins = 10n ** 30n;

let shop: SellerScene;
let good: JsonObject[];

/** A permit does not name its owner: who owns a wallet has signed for both, so that the wallet pays with authorisations alone. */
const payments: { kind: Kind; ofWallet?: true; isUncreated?: true }[] = [
  ...(['eip3009 V1', 'eip3009', 'permit2', 'upto'] as const).map((kind) => ({ kind })),
  ...(['eip3009 V1', 'eip3009'] as const).map((kind) => ({ kind, ofWallet: true as const })),
  { kind: 'eip3009', isUncreated: true },
];
let wallets = 0;

const funded: UncreatedWallet[] = [];

/** Another one each time: of one that does not exist a single settlement may be open. Many at once, since each waits for its block. */
async function nextUncreated(): Promise<UncreatedWallet> {
  if (funded.length === 0) funded.push(...(await Promise.all(Array.from({ length: 25 }, fundUncreated))));
  return funded.pop() as UncreatedWallet;
}

async function fundUncreated(): Promise<UncreatedWallet> {
  const { payer, usdc, anvil } = shop.payers;
  const wallet = await walletOf(payer.address, `fuzzed ${(wallets += 1)}`);
  await mintToken(anvil.chain, usdc, wallet.address, 5_000n);
  return wallet;
}

/** Good, for a long time, and another one each time. */
async function pay({ kind, ofWallet, isUncreated }: (typeof payments)[number]): Promise<JsonObject> {
  const { payers, primary } = shop;
  const before = /^eip3009/.test(kind) ? 'authorization.validBefore' : 'permit.deadline';
  const until = { [before]: String(2n ** 40n) };
  const uncreated = isUncreated && (await nextUncreated());
  const from = uncreated ? { from: uncreated.address } : ofWallet && { from: payers.wallet };
  const body = await sign(draft({ kind, payer: payers.payer, ...from, facilitator: primary, changes: until }), payers.payer);
  if (!uncreated) return body;
  const signature = at(body, ['paymentPayload', 'payload', 'signature']) as Hex;
  return change(body, { 'payload.signature': wrapSignature(walletFactory, uncreated.data, signature) });
}

/** As the chain's follower does: nothing is accepted ten minutes after the last ones. */
const newFeeLevels = () => setFeeLevels(shop.fixture.database, base);
let following: NodeJS.Timeout | undefined;

beforeAll(async () => {
  process.stderr.write(`PROPERTY_SEED=${seed} X402_FUZZ_RUNS=${runs}\n`);
  shop = await openShop({ sponsors: true, coins, createsWallets: true });
  good = await Promise.all(payments.map(pay));
  // where it fails, settlements are refused below
  following = setInterval(() => void newFeeLevels().catch(() => undefined), 60_000);
}, 120_000);
afterAll(async () => {
  clearInterval(following);
  await shop?.close();
});

/** With what a payer may add so that somebody else sets its allowance. */
const withExtensions = (body: JsonObject): JsonObject =>
  change(body, {
    'paymentPayload.extensions': {
      eip2612GasSponsoring: { info: permitInfo() },
      erc20ApprovalGasSponsoring: { info: { ...permitInfo(), signedTransaction: `0x02${'c0'.repeat(90)}` } },
    },
  });

type Path = (string | number)[];

/** Of all values inside, objects and lists included. */
function pathsOf(value: JsonValue, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const inner = Array.isArray(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value);
  return [...(at.length > 0 ? [at] : []), ...inner.flatMap(([key, item]) => pathsOf(item, [...at, key]))];
}
/** What is inherited, as a `constructor`, is not in JSON. */
const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => {
    const isHolder = typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key);
    return isHolder ? (inner as Record<string | number, unknown>)[key] : undefined;
  }, value);

/** Small changes of a text: another digit, another notation, another case, more around it. */
const tweaks: ((text: string, position: number) => string)[] = [
  (text, position) =>
    text.slice(0, position % text.length) +
    (text[position % text.length] === '1' ? '2' : '1') +
    text.slice((position % text.length) + 1),
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => (/^\d{1,77}$/.test(text) ? `0x${BigInt(text).toString(16)}` : `${text}0`),
  (text) => (/^\d{1,77}$/.test(text) ? String(BigInt(text) + 1n) : text.slice(0, -2)),
  (text) => `0${text}`,
  (text) => ` ${text}`,
  (text) => `-${text}`,
];

interface Mutation {
  place: number;
  how: 'remove' | 'replace' | 'tweak' | 'add' | 'from another';
  value: unknown;
  tweak: number;
  position: number;
}
const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(),
  how: fc.constantFrom('remove', 'replace', 'tweak', 'tweak', 'tweak', 'tweak', 'add', 'from another'),
  value: nasty,
  tweak: fc.nat(tweaks.length - 1),
  position: fc.nat(200),
});

function mutate(body: JsonObject, other: JsonObject, { place, how, value: given, tweak, position }: Mutation): void {
  // generated values are used again, and may be changed by the next mutation
  const value = structuredClone(given);
  const paths = pathsOf(body).filter((each) => how !== 'tweak' || typeof at(body, each) === 'string');
  const path = paths[place % paths.length];
  const parent = path && at(body, path.slice(0, -1));
  const key = path?.at(-1);
  if (typeof parent !== 'object' || parent === null || key === undefined) return;
  const holder = parent as Record<string | number, unknown>;
  const current = holder[key];
  if (how === 'remove') delete holder[key];
  else if (how === 'add') holder['added'] = value;
  else if (how === 'from another') holder[key] = structuredClone(at(other, path ?? []));
  else if (how === 'tweak' && typeof current === 'string' && current !== '') holder[key] = tweaks[tweak]?.(current, position);
  else holder[key] = value;
}

const permitFields = [
  'from',
  'permitted.token',
  'permitted.amount',
  'spender',
  'nonce',
  'deadline',
  'witness.to',
  'witness.validAfter',
];
const signedFields = {
  eip3009: ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'],
  permit2: permitFields,
  // in an exact witness it is a field that nobody signs
  upto: [...permitFields, 'witness.facilitator'],
};

/** What is signed, in one notation; null where there is something that is none. */
function signedIn(body: unknown): string | null {
  const payload = at(body, ['paymentPayload', 'payload']);
  if (!isJsonObject(payload)) return null;
  const name = 'permit2Authorization' in payload ? 'permit2Authorization' : 'authorization';
  const isUpto = at(body, ['paymentPayload', 'accepted', 'scheme']) === 'upto';
  const kind = name === 'authorization' ? 'eip3009' : isUpto ? 'upto' : 'permit2';
  const values = signedFields[kind].map((field) => at(payload[name], field.split('.')));
  try {
    return JSON.stringify([name, ...values.map((value) => (value === undefined ? null : BigInt(value as string).toString()))]);
  } catch {
    return null;
  }
}

/** Amount, recipient and token as asked for; those of the payer where nobody has asked. */
function askedIn(body: JsonObject): string {
  const asked = isJsonObject(body.paymentRequirements) ? body.paymentRequirements : at(body, ['paymentPayload', 'accepted']);
  const { amount, maxAmountRequired, payTo, asset } = asked as Record<string, string>;
  return [BigInt(amount ?? maxAmountRequired ?? ''), payTo?.toLowerCase(), asset?.toLowerCase()].join();
}

const post = (endpoint: 'verify' | 'settle', body: unknown) =>
  shop.fixture.call('POST', `/x402/${endpoint}`, { tenant: shop.seller, body, headers: { Prefer: 'respond-async' } });
const settings = {
  seed,
  numRuns: runs,
  includeErrorInReport: true,
  interruptAfterTimeLimit: timeoutMs - 30_000,
  markInterruptAsFailure: true,
};

/** Whether it is good, by the one or the other, and why not. Where nobody waits, what is accepted is a success. */
async function ask(endpoint: 'verify' | 'settle', body: unknown): Promise<{ isGood: boolean; reason: string | null }> {
  const answer = await post(endpoint, body);
  expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: answer.text });
  const { isValid, invalidReason, success, errorReason } = answer.body as unknown as Record<string, boolean & string>;
  const [isGood, reason] = endpoint === 'verify' ? [isValid, invalidReason] : [success, errorReason];
  expect(isGood).toBe((reason ?? null) === null);
  return { isGood: isGood === true, reason: reason ?? null };
}

test.each(['verify', 'settle'] as const)(
  '%s: a changed body never fails, and is good only if it still says what was signed',
  async (endpoint) => {
    const counts = { good: 0, refused: 0 };
    const reasons = new Set<string>();
    for (const body of good) expect(await ask('verify', body)).toEqual({ isGood: true, reason: null });
    const property = fc.asyncProperty(
      fc.nat(payments.length - 1),
      fc.nat(payments.length - 1),
      fc.boolean(),
      fc.array(mutation, { minLength: 1, maxLength: 3 }),
      async (index, otherIndex, isExtended, mutations) => {
        // settled once, it is used up
        const original = await pay(payments[index] as (typeof payments)[number]);
        const other = good[otherIndex] as JsonObject;
        const body = structuredClone(isExtended ? withExtensions(original) : original);
        for (const each of mutations) mutate(body, other, each);
        const { isGood, reason } = await ask(endpoint, body);
        counts[isGood ? 'good' : 'refused'] += 1;
        reasons.add(String(reason));
        if (!isGood) return;
        // one that was taken whole from another good payment is good as well
        expect([original, ...good].map(signedIn)).toContain(signedIn(body));
        expect([original, ...good].map(askedIn)).toContain(askedIn(body));
      },
    );
    await fc.assert(property, settings);
    process.stderr.write(`${endpoint} ${JSON.stringify(counts)}, ${reasons.size} reasons\n`);
    expect(Math.min(counts.good, counts.refused)).toBeGreaterThan(0);
    for (const reason of ['unexpected_verify_error', 'unexpected_settle_error']) expect(reasons).not.toContain(reason);
  },
  timeoutMs,
);

test.each(['verify', 'settle'] as const)(
  '%s: any JSON is answered, and any other text is refused',
  async (endpoint) => {
    const versions = { x402Version: fc.constantFrom(1, 2, 3), paymentPayload: nasty, paymentRequirements: nasty };
    const value = fc.oneof(
      nasty,
      fc.jsonValue({ maxDepth: 4 }),
      fc.record(versions, { requiredKeys: [], noNullPrototype: true }),
    );
    const text = fc.oneof(
      { weight: 3, arbitrary: value.map((json) => JSON.stringify(json)) },
      { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
    );
    const property = fc.asyncProperty(text, async (sent) => {
      if (sent === '' || parses(sent)) expect((await ask(endpoint, sent)).isGood).toBe(false);
      else expect({ sent, status: (await post(endpoint, sent)).status }).toEqual({ sent, status: 400 });
    });
    await fc.assert(property, settings);
  },
  timeoutMs,
);

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
