import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { getFamily } from '../src/chains/families';
import { loadRegistry } from '../src/chains/registry';
import { entities } from '../src/entities';
import { toDocument } from '../src/http/openapi/document';
import { createDatabase } from '../src/platform/database';
import { createLogger } from '../src/platform/logging';
import { createResources, type ResourceDependencies } from '../src/processes/resources';
import { createSecretBoxes } from '../src/processes/secret-boxes';
import { projectRoot } from './paths';

/**
 * `npm run client:generate`: writes the types of the API's document for client/. With `--check` nothing is written: the exit code is 1 if the
 * file differs from what would be written.
 */
async function main(): Promise<void> {
  const file = path.join(projectRoot, 'client', 'src', 'generated.ts');
  const types = await clientTypes();
  if (!process.argv.includes('--check')) {
    writeFileSync(file, types);
    return;
  }
  if (readFileSync(file, 'utf8') === types) return;
  console.error('client/src/generated.ts is not what the API serves: run `npm run client:generate`');
  process.exitCode = 1;
}

async function clientTypes(): Promise<string> {
  const document = (await servedDocument()) as unknown as OpenAPI3;
  // a field with a default need not be sent
  const types = await openapiTypescript(document, { defaultNonNullable: false, silent: true });
  return `// Made by \`npm run client:generate\` from the document that the API serves: do not edit.\n${astToString(types)}`;
}

/** The document of all routes but that of the document itself; it depends neither on a database nor on the enabled chains. */
async function servedDocument(): Promise<object> {
  const { routes, operational, events, limits } = await createResources(unconnected());
  return toDocument([...limits.guard(routes), ...limits.guardOperational(operational)], { environment: 'local', events });
}

/** What the resources are made of; no request is answered, so that nothing is connected to. */
function unconnected(): ResourceDependencies {
  const key = (): string => randomBytes(32).toString('hex');
  const privateKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const nothing = {} as never;
  return {
    database: createDatabase({ url: 'postgres://127.0.0.1/none', poolSize: 1, applicationName: 'client-types', entities }),
    registry: loadRegistry('local', ['ethereum']),
    getFamily,
    payments: new Map(),
    tokenOptions: { privateKey, issuer: 'none', audience: 'none', ttlSeconds: 900 },
    signerUrls: [],
    boxes: createSecretBoxes({ TOTP_SECRETS_KEY: key(), WEBHOOK_SECRETS_KEY: key(), STORED_ANSWERS_KEY: key() }),
    log: createLogger('client-types', 'fatal'),
    approvalWaitSeconds: 1,
    settleWaitMs: { 1: 1, 2: 1, longest: 1 },
    ...{ temporal: nothing, keyGeneration: nothing, accountKeyGeneration: nothing, workflows: nothing, startLimits: nothing },
    ...{ generationLimits: nothing, nodeKeys: nothing, webhookTargets: nothing },
    limits: {
      ...{ clientPerMinute: 1, addressPerMinute: 1, tokenPerMinute: 1, mfaPerMinute: 1 },
      ...{ inFlightPerClient: 1, inFlight: 1 },
    },
  };
}

void main();
