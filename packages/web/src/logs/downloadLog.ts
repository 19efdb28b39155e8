import { api } from '@stagi/contract/api.ts';
import type { LogSource } from '@stagi/contract/logging.ts';
import { call } from '../api/client.ts';
import { downloadText } from '../ui/download.ts';
import { lineText } from './lineText.ts';
import type { LogBounds } from './logBounds.ts';
import type { LogSearch } from './logFeed.ts';

interface Options {
  fileName: string;
  /** Only lines that match; all with an empty text. */
  search: LogSearch;
  bounds: LogBounds;
  timestamps: boolean;
  /** Called with the number of lines so far. */
  onProgress(lines: number): void;
}

const PAGE = 1_000;

/** Downloads a log from its first stored line to the current end. */
export async function downloadLog(
  source: LogSource,
  { fileName, search, bounds, timestamps, onProgress }: Options,
): Promise<void> {
  const parts: string[] = [];
  let count = 0;
  let after = 0;
  let until: number | null = null;
  for (;;) {
    const { lines, lastSeq, isMore } = await call(
      api.logging.query,
      { source, ...search, ...bounds, cursor: { after }, limit: PAGE },
      { quiet: true },
    );
    until ??= lastSeq;
    const last = until;
    const wanted = lines.filter((line) => line.seq <= last);
    parts.push(wanted.map((line) => `${lineText(line, timestamps)}\n`).join(''));
    count += wanted.length;
    onProgress(count);
    after = lines.at(-1)?.seq ?? last;
    if ((lines.length < PAGE && !isMore) || after >= last) break;
  }
  downloadText(`${fileName}.log`, parts);
}
