interface Props {
  text: string;
  query: string;
  matchCase: boolean;
}

/** A text in which what was searched for is marked. */
export function Highlit({ text, query, matchCase }: Props) {
  const pieces = piecesOf(text, query, matchCase);
  return pieces.map(({ at, text: piece, isMatch }) => (isMatch ? <mark key={at}>{piece}</mark> : piece));
}

function piecesOf(text: string, query: string, matchCase: boolean): { at: number; text: string; isMatch: boolean }[] {
  const pattern = new RegExp(query.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'), matchCase ? 'gu' : 'giu');
  const pieces: { at: number; text: string; isMatch: boolean }[] = [];
  let end = 0;
  for (const { index, 0: match } of text.matchAll(pattern)) {
    if (index > end) pieces.push({ at: end, text: text.slice(end, index), isMatch: false });
    pieces.push({ at: index, text: match, isMatch: true });
    end = index + match.length;
  }
  if (end < text.length) pieces.push({ at: end, text: text.slice(end), isMatch: false });
  return pieces;
}
