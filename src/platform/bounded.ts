/** Sets an entry as the newest of a map and drops the oldest ones beyond `max`: what is kept in memory has a limit. */
export function setBounded<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  // Maps keep insertion order: the first is the oldest
  for (const oldest of map.keys()) {
    if (map.size < max) break;
    map.delete(oldest);
  }
  map.set(key, value);
}
