/**
 * The text without these characters at its end. An expression for it, such as `/-+$/`, takes time by the square of the
 * longest run of them.
 */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
