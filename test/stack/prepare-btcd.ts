import { BtcdMissing, findBtcd } from '../../dev/btcd';

/** Has btcd built where it is missing, or says why tests of Bitcoin will be skipped. */
export async function prepareBtcd(): Promise<void> {
  await findBtcd((text) => process.stderr.write(`${text}\n`)).catch((error: unknown) => {
    if (!(error instanceof BtcdMissing)) throw error;
    process.stderr.write(`tests of Bitcoin are skipped: ${error.message}\n`);
  });
}
