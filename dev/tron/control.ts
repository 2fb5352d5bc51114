/** Paths below /simulator, which no node has: blocks on demand, faults, faucet. */
import Joi from 'joi';
import { BadBase58 } from './address';
import type { Chain } from './chain';
import { giveToken, giveTrx, setContract, setResources } from './faucet';
import { type Faults, type EndpointFaults, lies } from './faults';
import type { Json, JsonObject } from './json';
import { Refusal } from './refusal';

/** The request makes no sense; the message says why. */
export class BadRequest extends Error {}

export interface Controlled {
  chain: Chain;
  faults: Faults;
  tokens: Record<string, string>;
}

type Action = (controlled: Controlled, body: JsonObject) => Json | Promise<Json>;

/** Amounts are decimal texts. */
const amount = Joi.string().pattern(/^\d{1,30}$/);
const address = Joi.string().max(64);

function action<T>(schema: Joi.PartialSchemaMap<T>, run: (controlled: Controlled, body: T) => Json | Promise<Json>): Action {
  const checked = Joi.object(schema);
  return (controlled, body) => {
    const { error, value } = checked.validate(body) as { error?: Error; value: T };
    if (error) throw new BadRequest(error.message);
    return run(controlled, value);
  };
}

const showHead = ({ chain }: Controlled): JsonObject => ({
  head: chain.head.number,
  head_id: chain.head.id,
  head_time_ms: chain.head.timeMs,
  solidified: chain.history.solidNumber,
  earliest: chain.history.first.number,
  pending: chain.pendingCount,
});

/** A transaction is in a block at once, unless no blocks are made. */
async function included(controlled: Controlled, txid: string): Promise<Json> {
  if (!controlled.faults.isPaused) await controlled.chain.mine();
  return { txid };
}

const actions: Record<string, Action> = {
  status: action({}, (controlled) => ({
    ...showHead(controlled),
    faults: controlled.faults.show(),
    tokens: controlled.tokens,
  })),
  mine: action<{ blocks: number; skip_ms: number }>(
    {
      blocks: Joi.number().integer().min(1).max(10_000).default(1),
      skip_ms: Joi.number()
        .integer()
        .min(0)
        .max(7 * 86_400_000)
        .default(0),
    },
    async (controlled, { blocks, skip_ms }) => {
      await controlled.chain.mine(blocks, skip_ms);
      return showHead(controlled);
    },
  ),
  fork: action<{ depth: number; transactions: 'keep' | 'drop' }>(
    { depth: Joi.number().integer().min(1).required(), transactions: Joi.valid('keep', 'drop').default('keep') },
    async (controlled, { depth, transactions }) => {
      await controlled.chain.fork(depth, transactions === 'keep');
      return showHead(controlled);
    },
  ),
  pause: action<{ paused: boolean }>({ paused: Joi.boolean().default(true) }, (controlled, { paused }) => {
    controlled.faults.isPaused = paused;
    return showHead(controlled);
  }),
  drop: action<{ count: number; txid?: string }>(
    { count: Joi.number().integer().min(1).max(1_000).default(1), txid: Joi.string().hex().length(64) },
    async ({ faults, chain }, { count, txid }) => {
      if (txid === undefined) faults.plan('drop', count);
      else if (!(await chain.forget(txid))) throw new BadRequest('no such transaction waits for a block');
      return faults.show();
    },
  ),
  delay: action<{ blocks: number; count: number }>(
    {
      blocks: Joi.number().integer().min(1).max(10_000).required(),
      count: Joi.number().integer().min(1).max(1_000).default(1),
    },
    ({ faults }, { blocks, count }) => {
      faults.plan(blocks, count);
      return faults.show();
    },
  ),
  endpoint: action<{ name: string; stopped?: boolean } & Partial<Omit<EndpointFaults, 'stoppedAt'>>>(
    {
      name: Joi.string()
        .pattern(/^[\w-]{0,40}$/)
        .allow('')
        .default(''),
      down: Joi.boolean(),
      lie: Joi.valid(...lies, null),
      lieFrom: Joi.number().integer().min(0).allow(null),
      lieTo: Joi.number().integer().min(0).allow(null),
      stopped: Joi.boolean(),
      firstBlock: Joi.number().integer().min(0).allow(null),
      requestsPerSecond: Joi.number().integer().min(0).allow(null),
      slowMs: Joi.number().integer().min(0).max(60_000),
      remembersIds: Joi.boolean(),
    },
    ({ faults, chain }, { name, stopped, ...changes }) => {
      faults.change(name, changes);
      if (stopped === false) faults.change(name, { stoppedAt: null });
      if (stopped) faults.change(name, { stoppedAt: { head: chain.head.number, solidified: chain.history.solidNumber } });
      return faults.show();
    },
  ),
  heal: action({}, ({ faults }) => {
    faults.clear();
    return faults.show();
  }),
  faucet: action<{ address: string; amount: string; token?: string }>(
    { address: address.required(), amount: amount.required(), token: Joi.string().max(64) },
    async (controlled, { token, ...given }) => {
      const { chain, tokens } = controlled;
      const value = BigInt(given.amount);
      if (!token) return included(controlled, await giveTrx(chain, given.address, value));
      return included(controlled, await giveToken(chain, tokens[token] ?? token, given.address, value));
    },
  ),
  resources: action<{ address: string; bandwidth?: string; energy?: string }>(
    { address: address.required(), bandwidth: amount, energy: amount },
    async (controlled, given) => {
      await setResources(controlled.chain, given.address, {
        ...(given.bandwidth === undefined ? {} : { bandwidth: BigInt(given.bandwidth) }),
        ...(given.energy === undefined ? {} : { energy: BigInt(given.energy) }),
      });
      return showHead(controlled);
    },
  ),
  contract: action<{ address: string; code?: string; energyFactor?: number }>(
    {
      address: address.required(),
      code: Joi.string().hex().max(100_000),
      // DynamicEnergyMaxFactor
      energyFactor: Joi.number().integer().min(0).max(34_000),
    },
    async (controlled, { address: text, ...given }) => {
      await setContract(controlled.chain, text, given);
      return showHead(controlled);
    },
  ),
};

/**
 * @returns undefined for an unknown path
 * @throws BadRequest
 */
export async function control(path: string, controlled: Controlled, body: JsonObject): Promise<Json | undefined> {
  const found = Object.hasOwn(actions, path) ? actions[path] : undefined;
  try {
    return await found?.(controlled, body);
  } catch (error) {
    if (error instanceof Refusal) throw new BadRequest(`${error.code}: ${error.reason}`);
    if (error instanceof BadBase58 || error instanceof RangeError) throw new BadRequest(error.message);
    throw error;
  }
}
