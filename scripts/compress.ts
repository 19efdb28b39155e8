import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

// Compresses the built app's files beside themselves, as the server hands them out: `compress.ts <dist>`. What other
// formats compress already, and the pages, which get the site's configuration when they are sent, are left.
const FILES = '{*,assets/*}.{js,css,svg,txt,json}';
/** Below this a packet is saved by nothing. */
const SMALL_BYTES = 1_000;

const [dist = ''] = process.argv.slice(2);
const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

await Promise.all(
  globSync(FILES, { cwd: dist }).map(async (name) => {
    const file = join(dist, name);
    if (statSync(file).size < SMALL_BYTES) return;
    const bytes = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    writeFileSync(`${file}.br`, await brotli(bytes, { params }));
    writeFileSync(`${file}.gz`, await gzipped(bytes, { level: constants.Z_BEST_COMPRESSION }));
  }),
);
