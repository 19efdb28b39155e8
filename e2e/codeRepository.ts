import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { HOSTILE_MARKDOWN } from '@stagi/web/src/features/projectCode/markdown/testing/hostileMarkdown.ts';

const CALL = 'window.RAN=1';
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A repository on this machine that is pushed to the platform as a person does. */
export interface LocalRepository {
  dir: string;
  git(...args: string[]): string;
  write(path: string, content: string | Buffer): void;
  commit(message: string, author?: string): string;
  remove(): void;
}

export function localRepository(): LocalRepository {
  const dir = mkdtempSync(join(tmpdir(), 'stagi-code-'));
  let minute = 0;
  const git = (...args: string[]): string => {
    minute += 1;
    const at = new Date(Date.UTC(2026, 0, 5, 9, minute)).toISOString();
    return execFileSync('git', args, {
      cwd: dir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: dir,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_TERMINAL_PROMPT: '0',
        GIT_AUTHOR_DATE: at,
        GIT_COMMITTER_DATE: at,
        GIT_COMMITTER_NAME: 'Ada Lovelace',
        GIT_COMMITTER_EMAIL: 'ada@example.com',
      },
    }).trim();
  };
  git('init', '--quiet', '--initial-branch=main');
  return {
    dir,
    git,
    write(path, content) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), content);
    },
    commit(message, author = 'Ada Lovelace <ada@example.com>') {
      git('add', '--all');
      git('commit', '--quiet', '--allow-empty', `--author=${author}`, `--message=${message}`);
      return git('rev-parse', 'HEAD');
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Commits of a small project with one of everything that the code screens show. */
export function fillRepository(repository: LocalRepository): { first: string; fix: string } {
  const { write, commit, git } = repository;
  write('README.md', README);
  write('docs/guide.md', '# Guide\n\nBack to [the README](../README.md).\n');
  write('docs/dot.png', PIXEL);
  write('src/model.py', MODEL);
  write('src/train.sh', '#!/bin/sh\nset -e\npython -m src.model "$@"\n');
  write('notes.ipynb', notebook());
  const first = commit('Add the model\n\nWith a README and a notebook.');
  write('weights.bin', Buffer.from(Array.from({ length: 4_000 }, (_, at) => at % 256)));
  write('data/large.csv', `${'1234567890,abcdefghij\n'.repeat(60_000)}`);
  write('data/model.safetensors', LFS_POINTER);
  git('update-index', '--add', '--cacheinfo', `120000,${objectOf('src/model.py')},model-link`);
  git('update-index', '--add', '--cacheinfo', `160000,${first},vendor/other`);
  write('src/long.py', Array.from({ length: 900 }, (_, at) => `value_${at + 1} = ${at + 1}`).join('\n'));
  repository.git('add', 'weights.bin', 'data', 'src/long.py');
  git('commit', '--quiet', '--author=Grace Hopper <grace@example.com>', '--message=Add data and weights');
  write('src/model.py', MODEL.replace('return x * 2', 'return x * 3').replace('    y = 1', '      y = 1'));
  git('add', 'src/model.py');
  git('commit', '--quiet', '--author=Grace Hopper <grace@example.com>', '--message=Correct the factor');
  const fix = git('rev-parse', 'HEAD');
  git('tag', 'v1.0');
  git('branch', 'feature/one');
  return { first, fix };

  function objectOf(target: string): string {
    write('.git/link', target);
    return git('hash-object', '-w', '.git/link');
  }
}

/** Adds scripts everywhere that a person can put one. Answers how many. */
export function addScripts(repository: LocalRepository): number {
  const { write, git } = repository;
  const tag = `<img src=x onerror=${CALL}>`;
  const names = [
    `${tag}.txt`,
    `"onmouseover="${CALL}".md`,
    `'><script>${CALL}<`,
    `javascript:${CALL}`,
    `\${${CALL}}.js`,
    '{{constructor.constructor("window.RAN=1")()}}.html',
    'constructor',
    '__proto__',
    '%3Cscript%3E%252F.txt',
  ];
  const folder = 'hostile';
  for (const name of names) write(`${folder}/names/${name}`, `${tag}\n<script>${CALL}</script>\n`);
  write(`${folder}/README.md`, HOSTILE_MARKDOWN.join('\n\n'));
  write(`${folder}/page.html`, `<script>${CALL}</script>${tag}`);
  write(`${folder}/code.js`, `// </span>${tag}\nconst a = "</script><script>${CALL}</script>";\n${tag}\n`);
  write(
    `${folder}/drawing.svg`,
    `<svg xmlns="http://www.w3.org/2000/svg" onload="${CALL}"><script>${CALL}</script></svg>`,
  );
  write(`${folder}/notes.ipynb`, hostileNotebook());
  git('add', folder);
  git(
    'commit',
    '--quiet',
    `--author="onmouseover="${CALL}" ${tag.replaceAll(/[<>]/g, '')} <${CALL}@example.com>`,
    `--message=${tag}<script>${CALL}</script>\n\n${tag}\n[x](javascript:${CALL})`,
  );
  write(`${folder}/code.js`, `// </code>${tag}\nconst a = "</td><script>${CALL}</script>";\n${tag}\n`);
  git('add', folder);
  git('commit', '--quiet', '--author=Eve <eve@example.com>', `--message="><svg onload=${CALL}>`);
  git('branch', `x"onload=${CALL}<svg>`);
  git('tag', `<script>${CALL}</script>`);
  // Names, texts of each named file (2), Markdown, page, code (twice 3), drawing, notebook, messages and names of refs.
  return names.length * 3 + HOSTILE_MARKDOWN.length + 2 + 6 + 2 + HOSTILE_CELLS + 7;
}

const README = `# Doubler

[![badge](https://img.example.com/badge.svg)](https://example.com) See [the guide](docs/guide.md) and [the model](src/model.py#L3).

![dot](docs/dot.png)

| input | output |
|-------|--------|
| 1     | 2      |

- [x] trains
- [ ] serves

\`\`\`python
from src.model import double
print(double(21))  # 42
\`\`\`
`;

const MODEL = `"""Doubles numbers."""

def double(x: int) -> int:
    # The whole secret.
    y = 1
    return x * 2


class Model:
    factor = 2

    def predict(self, x):
        return self.factor * x
`;

const LFS_POINTER = `version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 734003200
`;

const cell = (source: string, ...outputs: unknown[]) => ({
  cell_type: 'code',
  execution_count: 1,
  metadata: {},
  source,
  outputs,
});
const shown = (data: unknown) => ({ output_type: 'display_data', metadata: {}, data });

function notebook(): string {
  return JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { language_info: { name: 'python' } },
    cells: [
      { cell_type: 'markdown', metadata: {}, source: ['# Results\n', 'of the **first** run'] },
      cell('print(double(21))', { output_type: 'stream', name: 'stdout', text: ['42\n'] }),
      cell('plot()', shown({ 'image/png': PIXEL.toString('base64'), 'text/plain': '<Figure>' })),
      cell('table', shown({ 'text/html': '<table><tr><td>cell of a table</td></tr></table>' })),
    ],
  });
}

const HOSTILE_CELLS = 7;

function hostileNotebook(): string {
  const tag = `<img src=x onerror=${CALL}>`;
  return JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { language_info: { name: tag } },
    cells: [
      { cell_type: 'markdown', metadata: {}, source: `<script>${CALL}</script>\n\n${tag}` },
      { cell_type: 'raw', metadata: {}, source: tag },
      cell(tag, shown({ 'text/html': `<script>${CALL}</script>${tag}` })),
      cell('js', shown({ 'application/javascript': CALL })),
      cell('svg', shown({ 'image/svg+xml': `<svg onload="${CALL}"/>` })),
      cell('png', shown({ 'image/png': `x" onerror="${CALL}`, 'text/plain': tag })),
      cell('error', { output_type: 'error', ename: tag, evalue: tag, traceback: [tag] }),
    ],
  });
}
