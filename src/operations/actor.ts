import { userInfo } from 'node:os';
import type { AuditActor } from '../audit/log';

/** Who runs the command line, for the audit log: GATEWAY_OPERATOR where several people share a system user. */
export const operatorActor = (): AuditActor => ({
  type: 'operator',
  id: (process.env.GATEWAY_OPERATOR?.trim() || systemUser()).slice(0, 200),
});

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // a container's user may have no name
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
