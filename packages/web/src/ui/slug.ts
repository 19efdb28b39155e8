const MAX = 40;

/** Cyrillic to Latin; what is not here and has no Latin letters falls away. */
const LATIN: Record<string, string> = Object.fromEntries(
  [...'абвгдеёжзийклмнопрстуфхцчшщъыьэюя'].map((letter, index) => [
    letter,
    'a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh shch _ y _ e yu ya'.split(' ')[index]?.replace('_', '') ??
      '',
  ]),
);

/** A Unique ID for a title: `My GPU server (2)` → `my-gpu-server-2`; may be empty. */
export function slugFromTitle(title: string): string {
  return title
    .toLowerCase()
    .replace(/[а-яё]/g, (letter) => LATIN[letter] ?? '')
    .replaceAll('ı', 'i')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX)
    .replace(/-+$/, '');
}
