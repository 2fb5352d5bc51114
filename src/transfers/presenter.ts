import type { TransferAccepted } from '../messages/transfer';
import type { TransferView } from './schema';

export const presentAccepted = ({ txId, status }: TransferAccepted): TransferView => ({
  tx_id: txId,
  status,
  message: 'The amount is locked and the transfer is under way: follow it with GET /transactions/{tx_id}',
});
