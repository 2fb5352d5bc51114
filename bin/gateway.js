#!/usr/bin/env node
/* eslint-disable @typescript-eslint/no-require-imports -- plain CommonJS: it runs before anything is built */
// Launcher of the operators' command line (src/cli). In development it finds the running stack automatically.
const { existsSync, readFileSync } = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const entry = path.join(root, 'dist', 'src', 'cli', 'index.js');
const devFolder = process.env.GATEWAY_DEV_DIR ?? path.join(root, '.dev');
const stackFile = path.join(devFolder, 'stack.json');
/** Commands for which no variable is set by a stack. */
const ofDeployments = ['setup', 'mpc'];

if (!process.env.DATABASE_URL && !process.env.DATABASE_URL_FILE) {
  if (existsSync(stackFile)) useStack(JSON.parse(readFileSync(stackFile, 'utf8')));
  else if (!ofDeployments.includes(process.argv[2])) process.on('exit', sayHowToStart);
}

if (existsSync(entry)) {
  require(entry);
} else {
  console.error('the command line is not built yet: run `npm run build`');
  process.exitCode = 1;
}

/** In a checkout, where a command has ended since a variable is missing. */
function sayHowToStart(code) {
  if (code === 78 && existsSync(path.join(root, 'dev')))
    console.error(`gateway: no stack was started here (${stackFile}): \`npm run dev\`, or set the variables of a deployment`);
}

/** Variables that are already set are not changed. */
function useStack({ postgres, temporal, chains }) {
  const found = {
    GATEWAY_ENV: 'local',
    DATABASE_URL: postgres.operator_url,
    DATABASE_OWNER_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    CHAINS: Object.keys(chains).join(','),
    ...(temporal.ui && { TEMPORAL_UI_URL: temporal.ui }),
  };
  for (const purpose of ['totp', 'webhook']) {
    const variable = `${purpose.toUpperCase()}_SECRETS_KEY`;
    if (!process.env[variable]) found[`${variable}_FILE`] = path.join(devFolder, 'secrets', `${purpose}-secrets.kek`);
  }
  if (!process.env.ORDER_KEYS) found.ORDER_KEYS_FILE = path.join(devFolder, 'secrets', 'order-keys.json');
  if (!process.env.MPC_NODE_PEER_CERTS) found.MPC_NODE_PEER_CERTS_FILE = path.join(devFolder, 'secrets', 'mpc-all.cert.pem');
  for (const [name, { rpc }] of Object.entries(chains)) found[`CHAIN_${name.toUpperCase().replaceAll('-', '_')}_RPC_URLS`] = rpc;
  for (const [name, value] of Object.entries(found)) process.env[name] ??= value;
}
