import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

describe('lock', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'stagi-lock-'));
    write('package.json', { dependencies: { tool: '1.0.0' } });
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('adds the packages of other platforms that a mirror left out', () => {
    write(
      'package-lock.json',
      lockWith({ '@tool/linux-x64-musl': '1.0.0', '@tool/darwin-arm64': '1.0.0', '@tool/linux-x64': '1.0.0' }),
    );
    expect(lock('--check')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('lacks @tool/linux-x64-musl, @tool/darwin-arm64:'),
    });
    expect(lock().status).toBe(0);
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    expect(packages['node_modules/@tool/darwin-arm64']).toEqual({
      version: '1.0.0',
      cpu: ['arm64'],
      optional: true,
      os: ['darwin'],
    });
    expect(packages['node_modules/@tool/linux-x64-musl']).toMatchObject({ os: ['linux'], libc: ['musl'] });
    expect(lock('--check')).toMatchObject({ status: 0, stdout: '' });
  });

  it('leaves a complete lock file untouched', () => {
    write('package-lock.json', lockWith({ '@tool/linux-x64': '1.0.0' }));
    const before = readFileSync(join(root, 'package-lock.json'), 'utf8');
    lock();
    expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).toBe(before);
  });

  it('notices a package.json that asks for more than was locked', () => {
    write('package-lock.json', lockWith({}));
    write('package.json', { dependencies: { tool: '1.0.0', other: '2.0.0' } });
    expect(lock('--check').stdout).toContain('older than package.json');
  });

  const write = (path: string, value: unknown) => writeFileSync(join(root, path), JSON.stringify(value));
  const lock = (...args: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, 'lock.mjs'), ...args], { cwd: root, encoding: 'utf8' });
});

const lockWith = (optionalDependencies: Record<string, string>) => ({
  packages: {
    '': { dependencies: { tool: '1.0.0' } },
    'node_modules/tool': { version: '1.0.0', optionalDependencies },
    'node_modules/@tool/linux-x64': { version: '1.0.0', optional: true },
  },
});
