/**
 * Waits for all of `promises`, like Promise.all, but throws the rejection that is first in the array, not the first in time: which of
 * several errors is reported does not depend on timing, and nothing is still running when it returns.
 */
export async function allInOrder<T extends readonly unknown[] | []>(
  promises: T,
): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
  const results = await Promise.allSettled(promises);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }) as { -readonly [I in keyof T]: Awaited<T[I]> };
}
