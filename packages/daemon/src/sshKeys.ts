import { chmod, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readFileIfExists, writeFileAtomically } from './atomicFile.ts';

const BEGIN = '# stagi: keys of the workspace, kept by stagid; lines between these two marks are replaced';
const END = '# stagi: end';

/** Replaces the lines between our markers; everything around them is the user's and stays. */
export async function installSshKeys(path: string, keys: readonly string[]): Promise<void> {
  const bad = keys.find((key) => /[\r\n\0]/.test(key) || !/^(ssh-|ecdsa-|sk-)\S+ \S+/.test(key));
  if (bad !== undefined) throw new Error('a line for authorized_keys is no public key');
  const before = await readFileIfExists(path);
  const after = replaceKeys(before ?? '', keys);
  if (after === before || (before === null && keys.length === 0)) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // sshd ignores keys in a folder that is writable by others.
  await chmod(dirname(path), 0o700);
  await writeFileAtomically(path, after, 0o600);
}

/** The current lines between our markers. */
export async function readSshKeys(path: string): Promise<string[]> {
  return splitAtMarkers((await readFileIfExists(path)) ?? '').ours;
}

export function replaceKeys(content: string, keys: readonly string[]): string {
  const { before, after } = splitAtMarkers(content);
  const ours = keys.length === 0 ? [] : [BEGIN, ...keys, END];
  const lines = [...before, ...ours, ...after];
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function splitAtMarkers(content: string): { before: string[]; ours: string[]; after: string[] } {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const begin = lines.indexOf(BEGIN);
  if (begin === -1) return { before: lines, ours: [], after: [] };
  const found = lines.indexOf(END, begin);
  // Without the end marker only the begin marker counts as ours: better to keep a stale key than to drop a user's.
  const end = found === -1 ? begin : found;
  return { before: lines.slice(0, begin), ours: lines.slice(begin + 1, end), after: lines.slice(end + 1) };
}
