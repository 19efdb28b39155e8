import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { REPORTS, ROOT } from './run.ts';

const FOLDER = join(REPORTS, 'running-tests');

/** Test files that run now, each with the seconds it has run for. A runner that is ended by a signal names none. */
export function runningTests(): string[] {
  if (!existsSync(FOLDER)) return [];
  return readdirSync(FOLDER).map((name) => {
    const { file, since } = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as { file: string; since: number };
    return `${file} (${Math.round((Date.now() - since) / 1000)} s)`;
  });
}

export const forgetRunningTests = (): void => rmSync(FOLDER, { recursive: true, force: true });

export function noteTestStart(absolutePath: string): void {
  mkdirSync(FOLDER, { recursive: true });
  const file = relative(ROOT, absolutePath);
  writeFileSync(noteOf(file), JSON.stringify({ file, since: Date.now() }));
}

export const noteTestEnd = (absolutePath: string): void =>
  rmSync(noteOf(relative(ROOT, absolutePath)), { force: true });

const noteOf = (file: string) => join(FOLDER, `${file.replaceAll('/', '~')}.json`);
