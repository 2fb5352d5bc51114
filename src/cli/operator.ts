import { userInfo } from 'node:os';
import type { AuditActor } from '../audit/log';
import { readConfig } from '../platform/config';

/** The operator who runs the command line, for the audit log. */
export const currentOperator = (): AuditActor => ({
  type: 'operator',
  id: readConfig(['GATEWAY_OPERATOR']).GATEWAY_OPERATOR ?? systemUser(),
});

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // in a container the user may have no name
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
