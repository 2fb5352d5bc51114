import { createHash } from 'node:crypto';
import Joi from 'joi';
import type { Hex, KeyProtocol } from '../chains/types';
import { GatewayError } from '../platform/errors';
import { jsonReader } from '../platform/untrusted';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import { isNodeIndex, protocols } from './protocols';
import { fromWire, type SignedStatement, toWire, type WireStatement, wireStatementSchema } from './statement';

const sessionKinds = ['keygen', 'sign', 'test'] as const;
export type SessionKind = (typeof sessionKinds)[number];

/** Parameters of a session. The initiator's proposal fixes them; every other participant accepts or refuses. */
export interface SessionParams {
  protocol: KeyProtocol;
  kind: SessionKind;
  initiator: NodeIndex;
  /** Ascending. */
  participants: readonly NodeIndex[];
  /** JSON text; hashed into the session id exactly as it was transmitted. */
  request: string;
}

export interface Proposal {
  params: SessionParams;
  /** The initiator's 32 random bytes; in hex they are also the handle of the session, since its id is not known at first. */
  randomness: Buffer;
  /** The initiator's journal entry about the session. */
  statement?: SignedStatement;
}

/** What a participant answers: that it takes part, or the signature that it has already. */
export type ProposalAnswer = { randomness: Buffer; statement?: SignedStatement } | { recorded: Hex };

const randomnessHex = Joi.string().pattern(/^[0-9a-f]{64}$/);
const proposalSchema = Joi.object<Omit<SessionParams, 'initiator'> & { randomness: string; statement?: WireStatement }>({
  protocol: Joi.string()
    .valid(...protocols)
    .required(),
  kind: Joi.string()
    .valid(...sessionKinds)
    .required(),
  participants: Joi.array()
    .items(Joi.number().valid(...nodeIndexes))
    .min(2)
    .max(3)
    .required(),
  request: Joi.string()
    .max(256 * 1024)
    .required(),
  randomness: randomnessHex.required(),
  statement: wireStatementSchema,
}).required();
const answerSchema = Joi.object<{ randomness?: string; statement?: WireStatement; recorded?: Hex }>({
  randomness: randomnessHex,
  statement: wireStatementSchema,
  recorded: Joi.string().pattern(/^0x([0-9a-f]{2}){1,128}$/),
})
  .xor('randomness', 'recorded')
  .without('recorded', 'statement')
  .required();
const rosterSchema = Joi.object<Record<string, string>>()
  .pattern(/^[123]$/, randomnessHex)
  .required();

const sessionMessage = 'session message';
const readProposal = jsonReader(proposalSchema, sessionMessage);
const readAnswer = jsonReader(answerSchema, sessionMessage);
const readRoster = jsonReader(rosterSchema, sessionMessage);

export function encodeProposal({ params: { protocol, kind, participants, request }, randomness, statement }: Proposal): Buffer {
  const body = { protocol, kind, participants, request, randomness: randomness.toString('hex') };
  return Buffer.from(JSON.stringify({ ...body, ...(statement && { statement: toWire(statement) }) }));
}

export function encodeAnswer(answer: ProposalAnswer): Buffer {
  if ('recorded' in answer) return Buffer.from(JSON.stringify(answer));
  const { randomness, statement } = answer;
  return Buffer.from(
    JSON.stringify({ randomness: randomness.toString('hex'), ...(statement && { statement: toWire(statement) }) }),
  );
}

/** @throws GatewayError invalid_parameter when the body is not an answer. */
export function decodeAnswer(body: Buffer): ProposalAnswer {
  const { randomness, statement, recorded } = readAnswer(body);
  if (recorded !== undefined) return { recorded };
  return { randomness: Buffer.from(randomness ?? '', 'hex'), ...(statement && { statement: fromWire(statement) }) };
}

/** @throws GatewayError invalid_parameter when the body is not a proposal of `initiator` to `self`. */
export function decodeProposal(body: Buffer, initiator: NodeIndex, self: NodeIndex): Proposal {
  const value = readProposal(body);
  const { protocol, kind, participants, request, randomness, statement } = value;
  if (participants.some((party, position) => position > 0 && party <= (participants[position - 1] as NodeIndex)))
    throw malformed('participants are not in order');
  if (!participants.includes(self) || !participants.includes(initiator))
    throw malformed('participants do not include both sender and recipient');
  if (participants.length !== (kind === 'keygen' ? 3 : 2)) throw malformed('wrong number of participants');
  const params = { protocol, kind, initiator, participants, request };
  return { params, randomness: Buffer.from(randomness, 'hex'), ...(statement && { statement: fromWire(statement) }) };
}

/** The random bytes of every participant, as the initiator collected them. */
export type Roster = ReadonlyMap<NodeIndex, Buffer>;

export function encodeRoster(roster: Roster): Buffer {
  return Buffer.from(JSON.stringify(Object.fromEntries([...roster].map(([party, random]) => [party, random.toString('hex')]))));
}

/** @throws GatewayError invalid_parameter when it is malformed. */
export function decodeRoster(body: Buffer): Roster {
  const value = readRoster(body);
  return new Map(
    Object.entries(value).map(([name, random]) => {
      const party = Number(name);
      if (!isNodeIndex(party)) throw malformed('a roster may contain node indexes only');
      return [party, Buffer.from(random, 'hex')];
    }),
  );
}

/**
 * The session id, which every participant computes itself: SHA-256 over protocol, kind, initiator, participants, the fresh
 * randomness of every participant and the request. If at least one participant is honest, an id never repeats and never stands
 * for two requests.
 */
export function deriveSessionId(params: SessionParams, roster: Roster): Buffer {
  const hash = createHash('sha256').update('custody-gateway/mpc/session/v1\0');
  hash.update(`${params.protocol}\0${params.kind}\0`);
  hash.update(Buffer.from([params.initiator, params.participants.length, ...params.participants]));
  for (const party of params.participants) {
    const random = roster.get(party);
    if (random?.length !== 32) throw malformed(`no randomness of party ${party}`);
    hash.update(random);
  }
  return hash.update(createHash('sha256').update(params.request).digest()).digest();
}

const malformed = (what: string): GatewayError => new GatewayError('invalid_parameter', `malformed ${sessionMessage}: ${what}`);
