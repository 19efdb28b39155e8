import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './run.ts';

interface Suite {
  file: string;
  suites?: Suite[];
  specs: { tests: { projectName: string }[] }[];
}

/** Projects that run some of the gate or some of the long tests. */
const LONG = ['long', 'docker-long', 'kit'];

it('each test and story is in exactly one project, and in the tier that its name tells', () => {
  const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  const files = tracked.split('\n').filter((file) => /\.(test|story)\.tsx?$/.test(file));
  const projects = [...vitestFiles(), ...stories()];
  for (const file of files) {
    const found = projects.filter((one) => one.file === file).map(({ project }) => project);
    expect.soft(found, file).toHaveLength(1);
    expect.soft(LONG.includes(found[0]!), `${file} is in ${found[0]}`).toBe(/\.long\.(test|story)\./.test(file));
  }
  expect(files.length).toBeGreaterThan(0);
  const long = files.filter((file) => file.includes('.long.')).length;
  console.log(`test files: n = ${files.length}, ${files.length - long} in the gate, ${long} long`);
});

function vitestFiles(): { file: string; project: string }[] {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-tiers-'));
  try {
    const list = join(folder, 'files.json');
    runNode('node_modules/vitest/vitest.mjs', 'list', '--filesOnly', `--json=${list}`);
    const found = JSON.parse(readFileSync(list, 'utf8')) as { file: string; projectName: string }[];
    return found.map(({ file, projectName }) => ({ file: relative(ROOT, file), project: projectName }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function stories(): { file: string; project: string }[] {
  const config = ['--config', 'e2e/playwright.config.ts'];
  const report = runNode('node_modules/@playwright/test/cli.js', 'test', ...config, '--list', '--reporter=json');
  const { suites } = JSON.parse(report) as { suites: Suite[] };
  return suites.flatMap((suite) =>
    [...new Set(projectsOf(suite))].map((project) => ({ file: join('e2e', suite.file), project })),
  );
}

const projectsOf = ({ suites = [], specs }: Suite): string[] => [
  ...specs.flatMap(({ tests }) => tests.map(({ projectName }) => projectName)),
  ...suites.flatMap(projectsOf),
];

function runNode(...args: string[]): string {
  const env = { ...process.env, PW_DISABLE_TS_ESM: '1' };
  return execFileSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8', maxBuffer: 64e6 });
}
