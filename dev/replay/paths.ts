import path from 'node:path';
import { projectRoot } from '../paths';

/** Compiled sources: workflows are bundled from JavaScript. */
export const distRoot = path.join(projectRoot, 'dist');
