/**
 * Does something with each of many items, some of them at a time. After an error, nothing more is begun.
 * @returns the results, in the items' order
 * @throws whatever the work throws first
 */
export async function someAtOnce<Item, Result>(items: readonly Item[], limit: number, work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  let next = 0;
  const workOn = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      try {
        results[at] = await work(items[at]);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, workOn));
  return results;
}
