import type { TransactionIntent, TransactionOutput } from './types';

/** Of families whose transactions pay one recipient and do nothing else. @throws Error for any other number of outputs, or an action. */
export function getPayment(intent: TransactionIntent): TransactionOutput {
  if (intent.action) throw new Error('only payments are known');
  return getOutput(intent);
}

/** @throws Error for any other number of outputs. */
export function getOutput({ outputs }: TransactionIntent): TransactionOutput {
  const [output, ...others] = outputs;
  if (!output || others.length > 0) throw new Error('a transaction has one output');
  return output;
}
