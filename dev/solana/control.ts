/** Paths below /control, which no node has: blocks on demand, faults, faucet. */
import { isAddress } from '@solana/kit';
import Joi from 'joi';
import type { Chain } from './chain';
import { FaucetRefusal, giveSol, giveToken } from './faucet';
import { type EndpointFaults, type Faults, lies } from './faults';
import type { Json, JsonObject } from './json';
import { programs } from './parameters';
import { heightsOf } from './view';

/** The request makes no sense; the message says why. */
export class BadRequest extends Error {}

export interface Controlled {
  chain: Chain;
  faults: Faults;
  /** Symbol to mint. */
  tokens: Record<string, string>;
}

type Action = (controlled: Controlled, body: JsonObject) => Json | Promise<Json>;

function action<T>(schema: Joi.PartialSchemaMap<T>, run: (controlled: Controlled, body: T) => Json | Promise<Json>): Action {
  const checked = Joi.object(schema);
  return (controlled, body) => {
    const { error, value } = checked.validate(body) as { error?: Error; value: T };
    if (error) throw new BadRequest(error.message);
    return run(controlled, value);
  };
}

const count = (most: number, least = 1) => Joi.number().integer().min(least).max(most);
const amount = Joi.string().pattern(/^\d{1,20}$/);
const address = Joi.string().custom((value: string) => {
  if (!isAddress(value)) throw new Error('no address');
  return value;
});

function showHead({ chain }: Controlled): JsonObject {
  const { slot, height, hash } = chain.head;
  const { confirmed, finalized } = heightsOf(chain);
  const first = chain.history.first.height;
  return { head: height, slot, head_id: hash, confirmed, finalized, earliest: first, pending: chain.pendingCount };
}

async function faucet(
  controlled: Controlled,
  { address: to, amount: text, token }: { address: string; amount: string; token?: string },
): Promise<Json> {
  const { chain, tokens, faults } = controlled;
  const value = BigInt(text);
  const mint = token === undefined ? undefined : (tokens[token] ?? token);
  try {
    const { id } = await (mint === undefined ? giveSol(chain, to, value) : giveToken(chain, mint, to, value));
    // in a block at once, unless none is made
    if (!faults.isPaused) chain.mine();
    return { txid: id };
  } catch (error) {
    if (error instanceof FaucetRefusal) throw new BadRequest(error.message);
    throw error;
  }
}

const actions: Record<string, Action> = {
  status: action({}, (controlled) => ({
    ...{ ...showHead(controlled), faults: controlled.faults.show(), tokens: controlled.tokens },
  })),
  mine: action<{ blocks: number }>({ blocks: count(10_000).default(1) }, (controlled, { blocks }) => {
    controlled.chain.mine(blocks);
    return showHead(controlled);
  }),
  skip: action<{ slots: number }>({ slots: count(10_000).default(1) }, (controlled, { slots }) => {
    controlled.chain.skip(slots);
    return showHead(controlled);
  }),
  fork: action<{ depth: number; transactions: 'keep' | 'drop' }>(
    { depth: count(10_000).required(), transactions: Joi.valid('keep', 'drop').default('keep') },
    (controlled, { depth, transactions }) => {
      controlled.chain.fork(depth, transactions === 'keep');
      return showHead(controlled);
    },
  ),
  expire: action({}, (controlled) => {
    controlled.chain.expirePending();
    return showHead(controlled);
  }),
  pause: action<{ paused: boolean }>({ paused: Joi.boolean().default(true) }, (controlled, { paused }) => {
    controlled.faults.isPaused = paused;
    return showHead(controlled);
  }),
  drop: action<{ count: number; txid?: string }>(
    { count: count(1_000).default(1), txid: Joi.string().max(88) },
    ({ chain, faults }, { count: planned, txid }) => {
      if (txid === undefined) faults.plan('drop', planned);
      else if (!chain.forget(txid)) throw new BadRequest('no such transaction waits for a block');
      return faults.show();
    },
  ),
  lose: action<{ percent: number }>({ percent: count(100, 0).required() }, ({ faults }, { percent }) => {
    faults.lostPercent = percent;
    return faults.show();
  }),
  delay: action<{ blocks: number; count: number }>(
    { blocks: count(10_000).required(), count: count(1_000).default(1) },
    ({ faults }, { blocks, count: planned }) => {
      faults.plan(blocks, planned);
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
      stopped: Joi.boolean(),
      requestsPerSecond: count(1_000_000, 0).allow(null),
      slowMs: count(60_000, 0),
    },
    ({ faults, chain }, { name, stopped, ...changes }) => {
      faults.change(name, changes);
      if (stopped !== undefined) faults.change(name, { stoppedAt: stopped ? heightsOf(chain) : null });
      return faults.show();
    },
  ),
  heal: action({}, ({ faults }) => {
    faults.clear();
    return faults.show();
  }),
  faucet: action({ address: address.required(), amount: amount.required(), token: Joi.string().max(44) }, faucet),
  account: action<{ address: string; lamports: string; data: string; owner: string }>(
    {
      address: address.required(),
      lamports: amount.required(),
      data: Joi.string().base64().allow('').default(''),
      owner: address.default(programs.system),
    },
    (controlled, { address: key, lamports, data, owner }) => {
      const account = { lamports: BigInt(lamports), data: Buffer.from(data, 'base64'), owner, executable: false };
      controlled.chain.change(key, account);
      return showHead(controlled);
    },
  ),
};

/** @returns undefined if there is no such path. @throws BadRequest, RangeError */
export async function control(name: string, controlled: Controlled, body: JsonObject): Promise<Json | undefined> {
  const found = Object.hasOwn(actions, name) ? actions[name] : undefined;
  return found?.(controlled, body);
}
