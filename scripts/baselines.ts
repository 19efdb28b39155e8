import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { provideTestPrograms } from './packages.ts';
import { ROOT, run } from './run.ts';
import { buildWeb } from './web.ts';

/** Takes the pictures of the gallery anew, for this machine's Chromium. Look at what git shows before you commit it. */
const FOLDER = join(ROOT, 'e2e/kit/baselines');
const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const MOST_BYTES = 3_000_000;

provideTestPrograms();
await buildWeb();
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const chromium = execFileSync(CHROMIUM, ['--version'], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
}).trim();
writeFileSync(join(FOLDER, 'build.json'), `${JSON.stringify({ chromium }, null, 2)}\n`);
const playwright = ['node_modules/@playwright/test/cli.js', 'test', '--config', 'e2e/playwright.config.ts'];
const story = ['--project=kit', '--update-snapshots=all', '--grep', 'looks as it did', 'kit/baselines.long.story.ts'];
const code = await run(process.execPath, [...playwright, '--output', 'test-results/baselines', ...story]);
if (code !== 0) process.exit(code);

const files = globSync('*.png', { cwd: FOLDER }).map((name) => join(FOLDER, name));
for (const file of files)
  writeFileSync(file, await sharp(readFileSync(file)).png({ palette: true, dither: 0, effort: 7 }).toBuffer());
const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
console.log(`${files.length} pictures, ${(bytes / 1e6).toFixed(2)} MB`);
if (files.length === 0 || bytes > MOST_BYTES) process.exit(1);
