import { readFileSync } from 'node:fs';
import { LANGUAGES } from '@stagi/contract/languages.ts';
import { storageSnippets } from '@stagi/contract/storageSnippets.ts';
import { expect, it } from 'vitest';

const PLACE = { bucket: 'winter-data', region: 'us-east-1', endpoint: 'http://localhost:4401' };
const page = (language: string) =>
  readFileSync(new URL(`../../../content/docs/${language}/console/storage-keys.md`, import.meta.url), 'utf8');

it('the page of keys shows the snippets of the app, which a long test runs', () => {
  const shown = storageSnippets(PLACE);
  for (const language of LANGUAGES)
    for (const { tool, code } of shown) {
      const [, inPage] =
        new RegExp(`:::tab\\[${tool}\\]\\n\`\`\`[^\\n]*\\n([^]*?)\\n\`\`\``).exec(page(language)) ?? [];
      expect({ language, tool, code: inPage }).toEqual({ language, tool, code });
    }
  console.log(`snippets in the docs: n = ${shown.length * LANGUAGES.length}`);
});
