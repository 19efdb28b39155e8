import { memo } from 'react';
import classes from '../../../ui/tokenColours.module.css';
import type { LineTokens } from './highlightLines.ts';

/** One line of code with its colours; without tokens plain. */
export const Tokens = memo(function Tokens({ text, tokens }: { text: string; tokens: LineTokens | undefined }) {
  if (!tokens) return text;
  const pieces: { at: number; text: string; kind: number }[] = [];
  let at = 0;
  for (let index = 0; index < tokens.length; index += 2) {
    const length = tokens[index] ?? 0;
    pieces.push({ at, text: text.slice(at, at + length), kind: tokens[index + 1] ?? 0 });
    at += length;
  }
  return pieces.map((piece) =>
    piece.kind === 0 ? (
      piece.text
    ) : (
      <span key={piece.at} className={classes.token} data-kind={piece.kind}>
        {piece.text}
      </span>
    ),
  );
});
