import { run } from './commands';
import type { Containers } from './containers';

/** With the certificates of public authorities alone, which have not signed that of this server. */
const connect = `
const { NativeConnection } = require('@temporalio/worker');
NativeConnection.connect({ address: 'temporal:7233', tls: true }).then(
  () => console.log('accepted'),
  (error) => console.log('refused: ' + error.message),
);
`;

/**
 * Temporal Cloud shows a certificate of a public authority. What can be seen without it: that the client of Temporal has such authorities, and refuses
 * a server that none of them knows; without any it would refuse to try.
 */
export async function assertKnowsAuthorities(containers: Containers, name: string, logFile: string): Promise<void> {
  const command = await containers.commandLine(name, { entrypoint: ['node'], words: ['-e', connect] });
  const outcome = (await run(command, { timeoutMs: 60_000, logFile })).trim();
  if (!/^refused: .*UnknownIssuer/.test(outcome))
    throw new Error(`${name} with root certificates at a server with another one: ${outcome}`);
}
