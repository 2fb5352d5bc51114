import { Schema0001 } from './0001-schema';

/** In order; a released migration is never edited, a change is a new file. */
export const migrations = [Schema0001];
