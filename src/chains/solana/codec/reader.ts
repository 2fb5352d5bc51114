const maxLength = 0xffff;

/** Reads a message or transaction from its beginning. Every function throws an Error where the bytes have not what is asked for. */
export function createReader(bytes: Buffer) {
  let position = 0;
  const take = (size: number): Buffer => {
    if (size > bytes.length - position) throw new Error('the message ends too early');
    position += size;
    return bytes.subarray(position - size, position);
  };
  const length = (): number => {
    let value = 0;
    for (let group = 0; group < 3; group += 1) {
      const byte = take(1)[0] as number;
      value |= (byte & 127) << (7 * group);
      if (byte >= 128) continue;
      // as the network does, which takes the shortest form alone, of 16 bits (solana-short-vec)
      if ((byte === 0 && group > 0) || value > maxLength) break;
      return value;
    }
    throw new Error('a length is out of range or too long');
  };
  // each item takes a byte at least, so that the bytes limit their number
  const list = <T>(item: () => T): T[] => Array.from({ length: length() }, item);
  return { take, length, list, position: () => position, isAtEnd: () => position === bytes.length };
}
