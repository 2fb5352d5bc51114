import { ComposeLoaderMissing, findComposeLoader } from '../../dev/compose-loader';

/** Has the loader of Docker Compose built where it is missing, or says why its tests will be skipped. */
export default async function setUp(): Promise<void> {
  await findComposeLoader((text) => process.stderr.write(`${text}\n`)).catch((error: unknown) => {
    if (!(error instanceof ComposeLoaderMissing)) throw error;
    process.stderr.write(`tests with the loader of Docker Compose are skipped: ${error.message}\n`);
  });
}
