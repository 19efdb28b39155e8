import type { LogLine } from '@stagi/contract/logging.ts';
import { plainText } from './ansi.ts';

/** A line as plain text, for the clipboard and files. */
export function lineText({ time, text }: LogLine, timestamps: boolean): string {
  return timestamps ? `${time} ${plainText(text)}` : plainText(text);
}
