import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { readConfig } from '@stagi/server/src/config/config.ts';
import { readSettings, unknownNames } from '@stagi/server/src/operatorCheck/settings.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const DEPLOY = join(import.meta.dirname, '../deploy');
const UNITS = join(DEPLOY, 'systemd');
const ROLES = ['api', 'worker', 's3'];
/** Out of 10; systemd calls up to 2 "OK" and above 5 "exposed". */
const MOST_EXPOSED = 2;
const run = promisify(execFile);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stagi-systemd-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the units for systemd', () => {
  it('are what systemd understands, for each role, and shut in', async () => {
    cpSync(UNITS, folder, { recursive: true });
    for (const role of ROLES) symlinkSync(join(folder, 'stagi@.service'), join(folder, `stagi@${role}.service`));
    const units = readdirSync(folder).filter((name) => /\.(service|timer)$/.test(name));
    expect(units).toHaveLength(7);
    const { stdout, stderr } = await run('systemd-analyze', ['verify', ...units.map((name) => join(folder, name))]);
    expect(stdout + stderr).toBe('');
    for (const name of ['stagi.service', 'stagi@api.service', 'stagi-backup.service']) {
      const told = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', join(folder, name)]);
      const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(told.stdout) ?? [];
      expect([name, Number(level)]).toEqual([name, expect.toSatisfy((exposed: number) => exposed <= MOST_EXPOSED)]);
    }
  });

  it('of the roles differ from the one for all where they must', () => {
    const [whole, role] = ['stagi.service', 'stagi@.service'].map((name) => readFileSync(join(UNITS, name), 'utf8'));
    const linesOf = (text: string, other: string) =>
      text.split('\n').filter((line) => !other.split('\n').includes(line));
    expect(linesOf(role!, whole!).filter((line) => !line.startsWith('#'))).toEqual([
      'Description=Stagi, role %i',
      'Conflicts=stagi.service',
      'EnvironmentFile=/etc/stagi/%i.env',
      'ExecStart=/usr/bin/node scripts/bootstrap.mjs start --role=%i',
    ]);
    const ports = ROLES.map((name) => parseEnv(readFileSync(join(UNITS, `${name}.env`), 'utf8')).METRICS_PORT);
    expect(new Set(ports).size).toBe(ROLES.length);
  });
});

it('the example of settings names none that is unknown, and a platform starts with them', () => {
  const text = readFileSync(join(DEPLOY, 'stagi.env.example'), 'utf8');
  const named = [...text.matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name!);
  expect(unknownNames(named)).toEqual([]);
  expect(named.filter((name) => readSettings().some((setting) => setting.name === name)).length).toBeGreaterThan(10);
  const config = readConfig({ ...parseEnv(text), STAGI_DATA: folder });
  expect([config.appOrigin, config.appsDomain?.host]).toEqual(['https://stagi.example', 'apps-stagi.example']);
});

describe('the upgrade', () => {
  let checkout: string;
  let bin: string;

  beforeEach(() => {
    const published = join(folder, 'published');
    checkout = join(folder, 'checkout');
    bin = join(folder, 'bin');
    git('init', '-q', '-b', 'main', published);
    cpSync(UNITS, join(published, 'deploy/systemd'), { recursive: true });
    commit(published, 'The version before');
    git('clone', '-q', published, checkout);
    commit(published, 'The next version');
    cpSync(UNITS, bin, { recursive: true });
    program('npm', `echo "npm $*" >> ${folder}/called`);
    program('systemctl', `echo "systemctl $1" >> ${folder}/called\n[ "$1" != list-units ] || cat ${folder}/units`);
  });

  it('installs while the services serve, restarts those that run, and waits until they are ready', async () => {
    writeFileSync(join(folder, 'units'), 'stagi@api.service loaded active\nstagi@s3.service loaded active\n');
    const server = createServer((_, response) => response.writeHead(++asked < 3 ? 503 : 200).end());
    let asked = 0;
    server.listen(0, '127.0.0.2');
    await once(server, 'listening');
    writeFileSync(join(folder, 'stagi.env'), `LISTEN_HOST=127.0.0.2\nPORT=${(server.address() as AddressInfo).port}\n`);
    const { stdout } = await upgrade();
    server.close();
    expect(stdout).toMatch(/Upgraded from \w{7,} to \w{7,}; away for \d+ s\./);
    expect(asked).toBe(3);
    expect(called()).toEqual(['npm run install-only', 'systemctl list-units', 'systemctl stop', 'systemctl start']);
    expect(git('-C', checkout, 'log', '-1', '--format=%s')).toBe('The next version\n');
  });

  it('restarts nothing where nothing runs', async () => {
    writeFileSync(join(folder, 'units'), '');
    expect((await upgrade()).stdout).toContain('No service of Stagi runs');
    expect(called()).toEqual(['npm run install-only', 'systemctl list-units']);
  });

  it('stops where the packages cannot be installed: the services run on', async () => {
    program('npm', 'exit 1');
    await expect(upgrade()).rejects.toMatchObject({ code: 1 });
    expect(() => called()).toThrow('ENOENT');
  });

  const upgrade = () =>
    run(join(checkout, 'deploy/systemd/upgrade.sh'), {
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, STAGI_ENV_FILE: join(folder, 'stagi.env') },
    });
  const called = () => readFileSync(join(folder, 'called'), 'utf8').trim().split('\n');
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' });

  function commit(repository: string, subject: string): void {
    const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    git('-C', repository, 'add', '-A');
    git('-C', repository, ...person, 'commit', '-q', '--allow-empty', '-m', subject);
  }

  function program(name: string, script: string): void {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
});
