import setUpParts from '../stack/parts-setup';
import { buildValidator, ValidatorMissing } from './validator';

/** Postgres and Temporal, and the validator, which the first run builds. Without it nothing is run. */
export default async function setUp(): Promise<void> {
  try {
    process.env.SURFPOOL_VALIDATOR = await buildValidator();
  } catch (error) {
    if (!(error instanceof ValidatorMissing)) throw error;
    process.stdout.write(`The tests on surfpool are left out: ${error.message} (CONTRIBUTING.md, "A full Solana RPC").\n`);
    return;
  }
  await setUpParts();
}
