/** How well a text matches a query; 0: not at all. The text must contain every word of it. */
export function score(text: string, query: string): number {
  const whole = fold(text);
  const words = fold(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) return 1;
  let sum = 0;
  for (const word of words) {
    const at = whole.indexOf(word);
    if (at === -1) return 0;
    sum += at === 0 ? 4 : startsWord(whole, word) ? 3 : 1;
  }
  return sum / words.length;
}

/** The matching items, best first. The sort is stable. */
export function matching<Item>(items: readonly Item[], query: string, textsOf: (item: Item) => string[]): Item[] {
  return items
    .map((item) => ({ item, score: Math.max(...textsOf(item).map((text, index) => score(text, query) / (index + 1))) }))
    .filter((found) => found.score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
}

const startsWord = (text: string, word: string) =>
  new RegExp(`(^|[^\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, 'u').test(text);

/** Case and accents do not count. */
const fold = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
