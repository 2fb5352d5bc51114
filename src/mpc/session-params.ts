import { createHash } from 'node:crypto';
import Joi from 'joi';
import { GatewayError } from '../platform/errors';
import { isParty, parties, protocols, type Party, type ProtocolName } from './protocols';

export const sessionKinds = ['keygen', 'sign', 'test'] as const;
export type SessionKind = (typeof sessionKinds)[number];

/** What a session is about. Fixed by the initiator's proposal; every participant agrees or stays away. */
export interface SessionParams {
  protocol: ProtocolName;
  kind: SessionKind;
  initiator: Party;
  /** Ascending. */
  participants: readonly Party[];
  /** JSON text, hashed into the session id exactly as it travelled. */
  request: string;
}

export interface Proposal {
  terms: SessionParams;
  /** The initiator's 32 random bytes; in hex they also address the session until all know its id. */
  randomness: Buffer;
}

const randomnessHex = Joi.string().pattern(/^[0-9a-f]{64}$/);
const proposalSchema = Joi.object({
  protocol: Joi.string()
    .valid(...protocols)
    .required(),
  kind: Joi.string()
    .valid(...sessionKinds)
    .required(),
  participants: Joi.array()
    .items(Joi.number().valid(...parties))
    .min(2)
    .max(3)
    .required(),
  request: Joi.string()
    .max(256 * 1024)
    .required(),
  randomness: randomnessHex.required(),
}).required();
const rosterSchema = Joi.object()
  .pattern(/^[123]$/, randomnessHex)
  .required();

export function encodeProposal({ terms: { protocol, kind, participants, request }, randomness }: Proposal): Buffer {
  return Buffer.from(JSON.stringify({ protocol, kind, participants, request, randomness: randomness.toString('hex') }));
}

/** @throws GatewayError invalid_parameter when the body is not a proposal of `initiator` to `self`. */
export function decodeProposal(body: Buffer, initiator: Party, self: Party): Proposal {
  const value = read<Omit<SessionParams, 'initiator'> & { randomness: string }>(proposalSchema, body);
  const { protocol, kind, participants, request, randomness } = value;
  if (participants.some((party, at) => at > 0 && party <= (participants[at - 1] as Party)))
    throw malformed('participants are not in order');
  if (!participants.includes(self) || !participants.includes(initiator)) throw malformed('participants do not name both of us');
  if (participants.length !== (kind === 'keygen' ? 3 : 2)) throw malformed('wrong number of participants');
  return { terms: { protocol, kind, initiator, participants, request }, randomness: Buffer.from(randomness, 'hex') };
}

/** Everyone's random bytes, as the initiator collected them. */
export type Roster = ReadonlyMap<Party, Buffer>;

export function encodeRoster(roster: Roster): Buffer {
  return Buffer.from(JSON.stringify(Object.fromEntries([...roster].map(([party, random]) => [party, random.toString('hex')]))));
}

/** @throws GatewayError invalid_parameter when it is malformed. */
export function decodeRoster(body: Buffer): Roster {
  const value = read<Record<string, string>>(rosterSchema, body);
  return new Map(
    Object.entries(value).map(([name, random]) => {
      const party = Number(name);
      if (!isParty(party)) throw malformed('a roster names parties');
      return [party, Buffer.from(random, 'hex')];
    }),
  );
}

/**
 * The id all participants compute for themselves: SHA-256 over protocol, kind, initiator, participants, everyone's fresh
 * randomness and the request. As long as one of them is honest it never repeats, and no two requests share one.
 */
export function deriveSessionId(terms: SessionParams, roster: Roster): Buffer {
  const hash = createHash('sha256').update('custody-gateway/mpc/session/v1\0');
  hash.update(`${terms.protocol}\0${terms.kind}\0`);
  hash.update(Buffer.from([terms.initiator, terms.participants.length, ...terms.participants]));
  for (const party of terms.participants) {
    const random = roster.get(party);
    if (random?.length !== 32) throw malformed(`no randomness of party ${party}`);
    hash.update(random);
  }
  return hash.update(createHash('sha256').update(terms.request).digest()).digest();
}

function read<T>(schema: Joi.ObjectSchema, body: Buffer): T {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw malformed('not JSON');
  }
  const result = schema.validate(value, { convert: false });
  if (result.error) throw malformed(result.error.details[0]?.path.join('.') || 'body');
  return result.value as T;
}

const malformed = (what: string): GatewayError => new GatewayError('invalid_parameter', `malformed session message: ${what}`);
