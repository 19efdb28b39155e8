import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { createTestDatabase } from '@stagi/server/src/testing/database.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './run.ts';

/** Starts after an upgrade, each with a real installation. */
const INSTALLATIONS = 5;
const STARTS = 20;
const ROLES = ['api', 'worker', 's3'] as const;
const UP_MS = 400_000;
const STAMP = 'node_modules/.stagi-lock-sha256';

/** Three roles started at once in one fresh checkout, as an operator does who has one service for each. */
describe('roles started at once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-twice-'));
  const checkout = join(folder, 'checkout');
  const cleanUps: (() => unknown)[] = [];
  let databaseUrl: string;
  beforeAll(async () => {
    execFileSync('git', ['clone', '--quiet', ROOT, checkout]);
    const database = await createTestDatabase();
    cleanUps.push(database.drop);
    databaseUrl = database.url;
  });
  afterAll(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  it(`come up with one installation after an upgrade (n = ${INSTALLATIONS})`, { timeout: 3_600_000 }, async () => {
    const seconds: number[] = [];
    for (let n = 0; n < INSTALLATIONS; n += 1) {
      leaveOlderInstallation();
      const { outputs, took } = await startAndStop();
      expect(outputs.join('').match(/^Installing packages …$/gm)).toHaveLength(1);
      expect(outputs.filter((output) => output.includes('Another start is installing'))).toHaveLength(2);
      expect(existsSync(join(checkout, STAMP))).toBe(true);
      seconds.push(took);
    }
    console.log(`n = ${INSTALLATIONS}: up after ${seconds.map((took) => took.toFixed(1)).join(', ')} s`);
  });

  it(`come up on the installation that is there (n = ${STARTS})`, { timeout: 3_600_000 }, async () => {
    const seconds: number[] = [];
    for (let n = 0; n < STARTS; n += 1) {
      const { outputs, took } = await startAndStop();
      expect(outputs.join('')).not.toMatch(/Installing|installing/);
      seconds.push(took);
    }
    expect(readdirSync(join(checkout, '.cache/web'))).toHaveLength(1);
    console.log(`n = ${STARTS}: up after ${seconds.map((took) => took.toFixed(1)).join(', ')} s`);
  });

  it('keep serving their web app when another one is built', { timeout: UP_MS }, async () => {
    const { url, stop } = await startRoles();
    const before = await (await fetch(url)).text();
    const dist = join(checkout, 'packages/web/dist');
    const build = readlinkSync(dist);
    mkdirSync(join(checkout, '.cache/web/other'));
    writeFileSync(join(checkout, '.cache/web/other/index.html'), 'other');
    unlinkSync(dist);
    symlinkSync('../../.cache/web/other', dist);
    expect(readFileSync(join(dist, 'index.html'), 'utf8')).toBe('other');
    expect(await (await fetch(url)).text()).toBe(before);
    await stop();
    unlinkSync(dist);
    symlinkSync(build, dist);
  });

  /** As a version left it that installed into `node_modules` itself. */
  function leaveOlderInstallation() {
    for (const path of ['.installed', ...modulesFolders()])
      rmSync(join(checkout, path), { recursive: true, force: true, maxRetries: 5 });
    mkdirSync(join(checkout, 'node_modules'));
    writeFileSync(join(checkout, STAMP), 'of another lock file');
  }

  const modulesFolders = () => [
    'node_modules',
    ...readdirSync(join(checkout, 'packages')).map((name) => join('packages', name, 'node_modules')),
  ];

  async function startAndStop() {
    const start = performance.now();
    const { outputs, stop } = await startRoles();
    const took = (performance.now() - start) / 1000;
    await stop();
    return { outputs: outputs(), took };
  }

  /** Resolves when all roles are up. */
  async function startRoles() {
    const url = `http://127.0.0.1:${await freePort()}`;
    const roles = await Promise.all(ROLES.map((role) => startRole(role, url)));
    await Promise.all(roles.map(({ up }) => up));
    await expect.poll(() => isReady(url)).toBe(true);
    return {
      url,
      outputs: () => roles.map(({ output }) => output()),
      stop: async () => {
        for (const { stop } of roles) expect(await stop()).toBe(0);
      },
    };
  }

  async function startRole(role: (typeof ROLES)[number], url: string) {
    const env = {
      ...environment(),
      PORT: role === 'api' ? new URL(url).port : String(await freePort()),
      S3_PORT: String(await freePort()),
      GIT_SSH_PORT: String(await freePort()),
      METRICS_PORT: 'off',
      LOCAL_CLOUD: 'off',
      STAGI_ENVIRONMENT: 'test',
      STAGI_DATA: join(folder, 'data'),
      DATABASE_URL: databaseUrl,
    };
    const child = spawn(process.execPath, ['scripts/bootstrap.mjs', 'start', `--role=${role}`], {
      cwd: checkout,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit') as Promise<[number | null]>;
    cleanUps.push(() => child.kill());
    let output = '';
    const up = new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
          if (output.includes('"msg":"serving"')) resolve();
        });
      const fail = (why: string) => reject(new Error(`${role} ${why}: ${output.slice(-2_000)}`));
      void ended.then(([code]) => fail(`ended with ${code}`));
      setTimeout(() => fail('is not up'), UP_MS).unref();
    });
    // Another role's failure may be reported first.
    up.catch(() => {});
    const stop = async () => {
      child.kill();
      return (await ended)[0];
    };
    return { up, output: () => output, stop };
  }

  /** Without what npm and the bootstrap of this test set for it. */
  function environment() {
    const ours = /^(npm_|NODE_COMPILE_CACHE$|GLIBC_TUNABLES$|STAGI_|INSTALL_SECONDS$)/;
    return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
  }

  async function isReady(url: string) {
    try {
      return (await fetch(`${url}/readyz`)).ok;
    } catch {
      // It does not listen yet.
      return false;
    }
  }
});
