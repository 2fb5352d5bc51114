import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { NodeIndex } from '../../src/messages/nodes';

/**
 * The shares of a key that an earlier build of native/threshold has generated: every later build must be able to sign with them.
 * A test key: nothing else may use it.
 */
export const committedKey = {
  publicKey: Buffer.from('032cc02c2668a4cd83288755e410a8c010022879890175e4ec349850b335540f1a', 'hex'),
  chainCode: Buffer.from('3d414f9bb68fcf27d86a5c0aff12c6e7b88dc592c9087da500edccb064351ed8', 'hex'),
};

export const readShare = (party: NodeIndex): Buffer => readFileSync(path.join(__dirname, `share-${party}.bin`));
