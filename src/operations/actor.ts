import { userInfo } from 'node:os';
import type { AuditActor } from '../audit/log';

/** The person at the command line: GATEWAY_OPERATOR, or the name they are logged in with. */
export const operatorActor = (): AuditActor => ({
  type: 'operator',
  id: process.env.GATEWAY_OPERATOR || userInfo().username,
});
