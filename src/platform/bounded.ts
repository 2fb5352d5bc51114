/** Sets an entry as the newest of a map and removes the oldest ones beyond `max`, so that memory use is limited. */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  // a Map keeps the order of insertion: the first entry is the oldest
  for (const oldest of map.keys()) {
    if (map.size < max) break;
    map.delete(oldest);
  }
  map.set(key, value);
}
