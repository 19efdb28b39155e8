import { PassThrough, type Readable } from 'node:stream';
import type { TextEncoding } from '@stagi/contract/projectCode.ts';
import { spawnGit } from './run.ts';

/** How much of a file decides whether it is text. */
const SNIFFED_BYTES = 8_000;
const MAX_POINTER_BYTES = 1_024;

/** A file as text; null: it is binary. UTF-16 needs its mark; what is no valid UTF-8 is still shown, with U+FFFD. */
export function textOf(content: Buffer): string | null {
  const encoding = encodingOf(content);
  if (encoding) return new TextDecoder(encoding).decode(content);
  if (content.subarray(0, SNIFFED_BYTES).includes(0)) return null;
  return new TextDecoder().decode(content);
}

/** The file that a Git LFS pointer stands for; null: it is no pointer. */
export function lfsPointerOf(content: Buffer): { oid: string; sizeBytes: number } | null {
  if (content.length > MAX_POINTER_BYTES) return null;
  const text = content.toString();
  if (!text.startsWith('version https://git-lfs.github.com/spec/v1\n')) return null;
  const oid = /^oid (sha256:[0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return oid && size ? { oid, sizeBytes: Number(size) } : null;
}

/** By the mark at its beginning; null: none of these. The same mark and two zeros begin UTF-32. */
export function encodingOf(content: Buffer): TextEncoding | null {
  if (content[0] === 0xfe && content[1] === 0xff) return 'utf-16be';
  const isLittle = content[0] === 0xff && content[1] === 0xfe;
  return isLittle && !(content.length >= 4 && content[2] === 0 && content[3] === 0) ? 'utf-16le' : null;
}

const IMAGES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
};

/** The type of an image by its name; null: no image that browsers show. */
export function imageTypeOf(name: string): string | null {
  const ending = /\.([a-z]{3,4})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(IMAGES, ending) ? IMAGES[ending]! : null;
}

/** The bytes of a blob as they come from git, for files too large for memory. */
export function streamBlob(gitDir: string, sha: string): Readable {
  if (!/^[0-9a-f]{40}$/.test(sha)) throw new Error('not the full hash of an object');
  const child = spawnGit(gitDir, ['cat-file', 'blob', sha]);
  const out = new PassThrough();
  child.stdin.end();
  child.stderr.resume();
  child.stdout.pipe(out, { end: false });
  child.once('error', (error) => out.destroy(error));
  child.once('close', (code) => {
    if (code === 0) out.end();
    else out.destroy(new Error(`git cat-file ended with ${code}`));
  });
  out.once('close', () => child.kill('SIGKILL'));
  return out;
}
