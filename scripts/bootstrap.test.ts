import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

describe('bootstrap', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'stagi-bootstrap-'));
    for (const folder of ['scripts', 'bin']) mkdirSync(join(root, folder));
    cpSync(join(import.meta.dirname, 'bootstrap.mjs'), join(root, 'scripts/bootstrap.mjs'));
    write('package.json', JSON.stringify({ devDependencies: { node: process.versions.node } }));
    write('package-lock.json', '{}');
    // Stands in for npm: makes the project's Node appear, and notes that it was called.
    write(
      'bin/npm',
      `#!/bin/sh\necho "$@" >> npm.log\nmkdir -p node_modules/.bin\nln -sf ${process.execPath} node_modules/.bin/node\n`,
    );
    chmodSync(join(root, 'bin/npm'), 0o755);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('installs the packages once for each state of the lock file', () => {
    write('scripts/check.ts', 'console.log("ran", ...process.argv.slice(2))');
    for (let n = 0; n < 2; n += 1) expect(bootstrap('check', 'a', 'b').stdout).toContain('ran a b');
    expect(npmCalls()).toHaveLength(1);
    expect(npmCalls()[0]).toMatch(/^ci .*--include=dev/);
    write('package-lock.json', '{"changed":true}');
    bootstrap('check');
    expect(npmCalls()).toHaveLength(2);
  });

  it('tells people at a terminal how long the installation took', () => {
    write('scripts/check.ts', 'console.log("ran")');
    const command = `${process.execPath} scripts/bootstrap.mjs check`;
    const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      cwd: root,
      encoding: 'utf8',
      env: environment(),
    });
    expect(stdout).toMatch(/✓ Packages installed {2}\d+\.\d s\r\nran\r\n$/);
  });

  it('does not install what a plain npm install has just put in place', () => {
    write('scripts/check.ts', '');
    install();
    expect(bootstrap('check').status).toBe(0);
    expect(npmCalls()).toHaveLength(0);
  });

  it('passes on the exit code', () => {
    write('scripts/check.ts', 'process.exit(7)');
    expect(bootstrap('check').status).toBe(7);
  });

  it('says what it can run', () => {
    const { status, stderr } = bootstrap('nonsense');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^usage: .*start/);
  });

  it('refuses a Node.js other than the one the project asks for', () => {
    write('package.json', JSON.stringify({ devDependencies: { node: '26.0.0' } }));
    write('scripts/check.ts', '');
    expect(bootstrap('check').stderr).toMatch(/instead of 26\.0\.0/);
  });

  it('passes a signal on once, although npm and the terminal both send it', async () => {
    write(
      'scripts/check.ts',
      'process.on("SIGINT", () => console.log("asked")); process.stdin.once("data", () => process.exit(3)); console.log("up")',
    );
    install();
    const { child, line } = start('check');
    expect(await line()).toBe('up');
    child.kill('SIGINT');
    expect(await line()).toBe('asked');
    child.kill('SIGINT');
    child.stdin.write('\n');
    expect(await line()).toBeUndefined();
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(3);
  });

  it('lets the script notice that the bootstrap was killed', async () => {
    write(
      'scripts/check.ts',
      'process.once("disconnect", () => { console.log("alone"); process.exit(); }); console.log("up")',
    );
    install();
    const { child, line } = start('check');
    expect(await line()).toBe('up');
    child.kill('SIGKILL');
    expect(await line()).toBe('alone');
  });

  const write = (path: string, text: string) => writeFileSync(join(root, path), text);

  function install() {
    mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
    symlinkSync(process.execPath, join(root, 'node_modules/.bin/node'));
    expect(bootstrap('installed').status).toBe(0);
  }

  const environment = () => {
    const { npm_execpath, npm_lifecycle_event, ...env } = process.env;
    return { ...env, PATH: `${join(root, 'bin')}:${process.env.PATH}` };
  };

  const bootstrap = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/bootstrap.mjs', ...args], {
      cwd: root,
      encoding: 'utf8',
      env: environment(),
    });

  function start(...args: string[]) {
    const command = [join(root, 'scripts/bootstrap.mjs'), ...args];
    const child = spawn(process.execPath, command, {
      cwd: root,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: environment(),
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    return { child, line: async () => (await lines.next()).value as string | undefined };
  }

  function npmCalls() {
    try {
      return readFileSync(join(root, 'npm.log'), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('ci'));
    } catch {
      return [];
    }
  }
});
