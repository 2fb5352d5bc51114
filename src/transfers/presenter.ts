import type { CreatedAnswer } from '../http/context';
import type { Acceptance } from './accept';
import type { TransferView } from './schema';

const presentAccepted = ({ txId, status, replayed }: Acceptance): TransferView => ({
  tx_id: txId,
  status,
  message: replayed
    ? 'The transfer was accepted before: follow it with GET /transactions/{tx_id}'
    : 'The amount is locked and the transfer is in progress: follow it with GET /transactions/{tx_id}',
});

export const toAnswer = (acceptance: Acceptance): CreatedAnswer => ({
  body: presentAccepted(acceptance),
  path: `/transactions/${acceptance.txId}`,
});
