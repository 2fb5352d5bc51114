/** Blocks of one scan at most: bounds memory, the length of a database transaction and what a retry repeats. */
const longest = 20;

/** How many blocks to ask for at once: half as many when an endpoint does not answer for so many, then one more at a time. */
export class ScanRange {
  private length = longest;

  /** @returns what `scan` has found up to a block. @throws what `scan` throws; the next range is shorter then, one block at least. */
  async run<T>(from: number, head: number, scan: (to: number) => Promise<T>): Promise<T> {
    const asked = this.length;
    try {
      const found = await scan(Math.min(head, from + asked - 1));
      this.length = Math.min(longest, asked + 1);
      return found;
    } catch (error) {
      this.length = Math.ceil(asked / 2);
      throw error;
    }
  }
}
