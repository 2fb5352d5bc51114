import type { CreatedAnswer } from '../http/context';
import { isEnded } from '../transactions/state';
import type { Acceptance } from './accept/accept';
import type { TransferView } from './schema';

const presentAccepted = ({ txId, status }: Acceptance): TransferView => ({
  tx_id: txId,
  status,
  // a key gives its transfer for ever, also once that has ended
  message: isEnded({ status })
    ? 'The transfer was accepted before and has ended: see GET /transactions/{tx_id}'
    : 'The amount is locked and the transfer is in progress: follow it with GET /transactions/{tx_id}',
});

export const toAnswer = (acceptance: Acceptance): Required<CreatedAnswer> => ({
  body: presentAccepted(acceptance),
  path: `/transactions/${acceptance.txId}`,
});
