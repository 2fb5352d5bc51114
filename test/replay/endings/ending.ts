/**
 * What a committed history shows, in this order, in the words of history.ts: steps on the way that tell it from others, its last step,
 * and how its run ended.
 */
export type Ending = readonly string[];
export type Endings = Record<string, Ending>;
