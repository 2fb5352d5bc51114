import { Shares0001 } from './0001-shares';

/** In order; a released migration is never edited, a change is a new file. */
export const migrations = [Shares0001];
