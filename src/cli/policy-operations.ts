import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { inTransaction } from '../platform/database';
import { invalidParameter } from '../platform/errors';
import { type WhitelistMode, whitelistModes } from '../screening/destinations';
import { withReason } from './confirmation';
import { currentOperator } from './operator';

export interface ClientPolicy {
  whitelist: WhitelistMode;
  /** A whitelist entry takes effect this long after it was added or activated. */
  coolingSeconds: number;
  /** A user may approve a transfer that the same user requested, even if another user could. */
  selfApproval: boolean;
}

/** Options of the command line. Omitted values stay unchanged. */
export interface PolicyChange {
  whitelist?: string;
  cooling?: string;
  selfApproval?: string;
  /** Of the operator, for the audit log. */
  reason?: string;
}

const maxCoolingSeconds = 30 * 24 * 60 * 60;

/** Operations on the transfer policy of a client. */
export class PolicyOperations {
  constructor(private readonly database: DataSource) {}

  show(clientId: string): Promise<ClientPolicy> {
    return read(this.database.manager, clientId);
  }

  /**
   * Transfers that wait for approval keep waiting.
   * @throws GatewayError invalid_parameter.
   */
  async set(clientId: string, { whitelist, cooling, selfApproval, reason }: PolicyChange): Promise<ClientPolicy> {
    const changes: Partial<ClientPolicy> = {
      ...(whitelist !== undefined && { whitelist: parseMode(whitelist) }),
      ...(cooling !== undefined && { coolingSeconds: parseSeconds(cooling) }),
      ...(selfApproval !== undefined && { selfApproval: parseSelfApproval(selfApproval) }),
    };
    return inTransaction(this.database, async (manager) => {
      const policy = { ...(await read(manager, clientId, 'for no key update')), ...changes };
      await manager.query(
        'update clients set whitelist_mode = $2, whitelist_cooling_seconds = $3, self_approval = $4 where client_id = $1',
        [clientId, policy.whitelist, policy.coolingSeconds, policy.selfApproval],
      );
      await audit(manager, {
        action: 'client.policy_changed',
        outcome: 'success',
        actor: currentOperator(),
        clientId,
        subject: { type: 'client', id: clientId },
        detail: {
          ...{ whitelist: policy.whitelist, cooling_seconds: policy.coolingSeconds, self_approval: policy.selfApproval },
          ...withReason(reason),
        },
      });
      return policy;
    });
  }
}

async function read(manager: EntityManager, clientId: string, lock: '' | 'for no key update' = ''): Promise<ClientPolicy> {
  const [row] = await manager.query<{ mode: WhitelistMode; seconds: number; self_approval: boolean }[]>(
    `select whitelist_mode as mode, whitelist_cooling_seconds as seconds, self_approval from clients where client_id = $1 ${lock}`,
    [clientId],
  );
  if (!row) throw new Error(`there is no client ${clientId}`);
  return { whitelist: row.mode, coolingSeconds: row.seconds, selfApproval: row.self_approval };
}

function parseMode(text: string): WhitelistMode {
  const mode = whitelistModes.find((name) => name === text);
  if (!mode) throw invalidParameter('--whitelist', `must be one of ${whitelistModes.join(', ')}`);
  return mode;
}

function parseSelfApproval(text: string): boolean {
  if (text !== 'allow' && text !== 'refuse') throw invalidParameter('--self-approval', 'must be allow or refuse');
  return text === 'allow';
}

function parseSeconds(text: string): number {
  const seconds = /^\d{1,7}$/.test(text) ? Number(text) : NaN;
  if (!(seconds <= maxCoolingSeconds)) throw invalidParameter('--cooling', `must be 0 to ${maxCoolingSeconds} seconds`);
  return seconds;
}
