import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LANGUAGES } from '@stagi/contract/languages.ts';
import { gpus } from '@stagi/perf/catalogueFiles.ts';
import { expect, it } from 'vitest';
import { OPEN_GRAPH_SIZE, openGraphPath, SCREEN_SIZE, SCREEN_THEMES, SCREENS, screenPath } from './screens.ts';
import { SHOWN_GPUS } from './shownGpus.ts';

const PUBLIC = join(import.meta.dirname, '../../../public');
const MOST_BYTES = 60_000;

const screens = LANGUAGES.flatMap((language) =>
  SCREENS.flatMap((name) => SCREEN_THEMES.map((theme) => screenPath(name, language, theme))),
);

it('has a screenshot of each screen in each language and theme, and no other files', () => {
  const found = readdirSync(join(PUBLIC, 'screens')).map((file) => `/screens/${file}`);
  expect(found.toSorted()).toEqual([...screens, ...LANGUAGES.map(openGraphPath)].toSorted());
});

it('keeps screenshots small and of the size that the page reserves', () => {
  for (const path of screens) {
    const bytes = readFileSync(join(PUBLIC, path));
    expect(bytes.length, path).toBeLessThanOrEqual(MOST_BYTES);
    expect(webpSize(bytes), path).toEqual(SCREEN_SIZE);
  }
});

it('has the pictures that other sites show with a link, of the size that they ask for', () => {
  for (const language of LANGUAGES) {
    const file = join(PUBLIC, openGraphPath(language));
    const header = readFileSync(file);
    expect({ width: header.readUInt32BE(16), height: header.readUInt32BE(20) }).toEqual(OPEN_GRAPH_SIZE);
    expect(statSync(file).size).toBeLessThanOrEqual(300_000);
  }
});

it('names GPUs that the catalogue has, with their memory', () => {
  for (const { id, memoryGb } of SHOWN_GPUS) expect(gpus.find((gpu) => gpu.id === id)?.memoryGb, id).toBe(memoryGb);
});

/** Of a lossy WebP without extensions (RFC 9649, section 2.5). */
function webpSize(bytes: Buffer): { width: number; height: number } {
  expect(bytes.toString('latin1', 12, 16)).toBe('VP8 ');
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}
