/** Whether every word that is searched for is somewhere in one of these texts, in any order. */
export function holdEveryWord(texts: readonly string[], asked: string | undefined): boolean {
  if (!asked) return true;
  const all = texts.join(' ').toLowerCase();
  return asked
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
