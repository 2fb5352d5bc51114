import { Schema0001 } from './0001-schema';
import { Security0002 } from './0002-security';

/** In order; a released migration is never edited, a change is a new file. */
export const migrations = [Schema0001, Security0002];
