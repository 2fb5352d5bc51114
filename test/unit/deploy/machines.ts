import { shellBlocks } from '../documents/shell-blocks';

/** Of docs/deployment.md, where each signing node has a machine of its own: the code of one step, by the word after `sh`. */
export function commandsOf(who: string): string {
  const found = shellBlocks('docs/deployment.md').filter((block) => block.who === who);
  if (found.length !== 1) throw new Error(`docs/deployment.md has ${found.length} pieces of code of \`sh ${who}\``);
  return found[0]?.code ?? '';
}

/** The same for another node: its number, where the code is that of the first one. */
export const forNode = (index: number, code: string): string =>
  code
    .replaceAll('mpc-node-1', `mpc-node-${index}`)
    .replaceAll('gateway_mpc_1', `gateway_mpc_${index}`)
    .replace(/^MPC_NODE=1$/m, `MPC_NODE=${index}`)
    .replace(/^LISTEN_ADDRESS=.*$/m, () => `LISTEN_ADDRESS=${addressOf(code, `MPC_NODE_${index}_ADDRESS`)}`);

const addressOf = (code: string, name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(code)?.[1] ?? '';

/** Folders that the code names, which are elsewhere in a test. */
export const folders = { secrets: '/srv/custody-gateway', mark: '/mnt/journal-mark/custody-gateway' } as const;
export const inFolders = (code: string, given: { secrets: string; mark: string }): string =>
  code.replaceAll(folders.secrets, given.secrets).replaceAll(folders.mark, given.mark);
