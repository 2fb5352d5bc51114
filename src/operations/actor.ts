import { userInfo } from 'node:os';
import type { AuditActor } from '../audit/log';

/** Who runs the command line: GATEWAY_OPERATOR, or else the name of the operating system's user. */
export const operatorActor = (): AuditActor => ({ type: 'operator', id: process.env.GATEWAY_OPERATOR ?? userInfo().username });
