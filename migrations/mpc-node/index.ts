import { Shares0001 } from './0001-shares';
import { Blacklist0002 } from './0002-blacklist';

/** In this order. A released migration is never edited: a change is a new file. */
export const migrations = [Shares0001, Blacklist0002];
