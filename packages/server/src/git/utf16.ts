import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_TEXT_BYTES, type TextEncoding } from '@stagi/contract/projectCode.ts';
import { encodingOf, textOf } from './blobs.ts';
import { type Change, type LineCounts, patchHeader } from './diff.ts';
import type { Repository } from './repositories.ts';

/** Most of one commit; others are shown as binary. */
const MAX_FILES = 30;
const MAX_PATCH_BYTES = 4 * 1024 * 1024;

export interface TextChange {
  encoding: TextEncoding;
  counts: NonNullable<LineCounts>;
  /** Null: no line is another. */
  patch: string | null;
}

/**
 * The changes of files in UTF-16, which git takes for binary: each side is compared as UTF-8. By path; what is no text
 * on one of its sides is missing.
 */
export async function compareUtf16(
  repository: Repository,
  binary: readonly Change[],
  { ignoreWhitespace }: { ignoreWhitespace: boolean },
): Promise<Map<string, TextChange>> {
  const found = new Map<string, TextChange>();
  for (const change of binary.slice(0, MAX_FILES)) {
    const [before, after] = [await sideOf(repository, change.oldSha), await sideOf(repository, change.sha)];
    const encoding = after?.encoding ?? before?.encoding;
    if (!before || !after || !encoding) continue;
    found.set(change.path, {
      encoding,
      ...(await compareTexts(repository, change, [before.text, after.text], ignoreWhitespace)),
    });
  }
  return found;
}

/** Null: no text, or too long. A side that does not exist is an empty text. */
async function sideOf(
  repository: Repository,
  sha: string | null,
): Promise<{ text: string; encoding: TextEncoding | null } | null> {
  if (sha === null) return { text: '', encoding: null };
  const info = await repository.info(sha);
  if (info?.type !== 'blob' || info.size > MAX_TEXT_BYTES) return null;
  const content = (await repository.read(sha))?.content;
  const text = content ? textOf(content) : null;
  return content && text !== null ? { text, encoding: encodingOf(content) } : null;
}

async function compareTexts(
  repository: Repository,
  change: Change,
  texts: readonly [before: string, after: string],
  ignoreWhitespace: boolean,
): Promise<Omit<TextChange, 'encoding'>> {
  const folder = await mkdtemp(join(tmpdir(), 'stagi-utf16-'));
  try {
    const files = [join(folder, 'before'), join(folder, 'after')];
    await Promise.all(files.map((file, n) => writeFile(file, texts[n]!)));
    const { stdout } = await repository.git(
      [
        ...['diff', '--no-index', '--no-ext-diff', '--no-textconv', '--no-color', '--text'],
        ...(ignoreWhitespace ? ['--ignore-all-space', '--ignore-blank-lines'] : []),
        '--',
        ...files,
      ],
      { exitCodes: [0, 1], maxOutputBytes: MAX_PATCH_BYTES, onLimit: 'cut' },
    );
    const output = stdout.toString();
    const at = output.search(/^@@ /m);
    if (at < 0) return { counts: { additions: 0, deletions: 0 }, patch: null };
    const lines = output.slice(at);
    const count = (sign: string): number => lines.split('\n').filter((line) => line.startsWith(sign)).length;
    return {
      counts: { additions: count('+'), deletions: count('-') },
      patch: `${patchHeader(change)}\n${lines}`,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
