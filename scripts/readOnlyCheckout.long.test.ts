import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './run.ts';

/** `nobody`, as a service's user who owns nothing but the data folder. */
const SERVICE = 65_534;

/** A checkout of root, installed with `npm run install-only`, and started by a service that may only read it. */
describe.skipIf(process.getuid?.() !== 0)('a checkout of somebody else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-read-only-'));
  const checkout = join(folder, 'checkout');
  const data = join(folder, 'data');
  beforeAll(() => {
    chmodSync(folder, 0o755);
    execFileSync('git', ['clone', '--quiet', ROOT, checkout]);
    execFileSync(process.execPath, ['scripts/bootstrap.mjs', 'installOnly'], {
      cwd: checkout,
      env: environment(),
      stdio: 'inherit',
    });
    mkdirSync(data);
    chownSync(data, SERVICE, SERVICE);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  it('serves web app and daemon twice, and nothing in the checkout changes', async () => {
    const before = files();
    for (let n = 0; n < 2; n += 1) {
      const { url, output, stop } = await startAsService();
      await expect.poll(() => statusOf(`${url}/readyz`)).toBe(200);
      expect(await (await fetch(url)).text()).toContain('<script');
      await expect.poll(() => statusOf(`${url}/daemon-api/stagid-linux-x64.tar.gz`)).toBe(200);
      expect(output()).not.toMatch(/Installing|denied|EACCES|EROFS|"level":(40|50|60)/);
      expect(await stop()).toBe(0);
    }
    expect(files()).toBe(before);
    console.log(`n = 2 starts, ${before.split('\n').length} files`);
  });

  it('says who has to build the web app of a newer checkout', async () => {
    const page = join(checkout, 'content/docs/en/index.md');
    const { size } = statSync(page);
    writeFileSync(page, '\nnewer\n', { flag: 'a' });
    const { output, ended } = await startAsService();
    expect(await ended).toBe(1);
    expect(output()).toBe(
      `Stagi cannot start. The web app is not built of these sources, and this user may only read ${checkout}: run npm run install-only there as its owner.\n`,
    );
    execFileSync('truncate', ['--size', String(size), page]);
  });

  it('goes on without a daemon, and says who has to build it', async () => {
    renameSync(join(checkout, '.cache/daemon'), join(checkout, '.cache/other'));
    const { output, stop } = await startAsService();
    await expect
      .poll(output)
      .toContain(
        `The daemon does not build, so no server can join: Its archive is not built of these sources, and this user may only read ${checkout}: run npm run install-only there as its owner.`,
      );
    await expect.poll(output).toContain('"msg":"serving"');
    expect(await stop()).toBe(0);
  });

  /** Every file and folder with its owner, size and time of change. */
  const files = () =>
    execFileSync('find', ['.', '-printf', '%p %u %m %s %C@\\n'], {
      cwd: checkout,
      encoding: 'utf8',
      maxBuffer: 256e6,
    });

  async function startAsService() {
    const url = `http://127.0.0.1:${await freePort()}`;
    const env = {
      ...environment(),
      PORT: new URL(url).port,
      S3_PORT: String(await freePort()),
      GIT_SSH_PORT: String(await freePort()),
      METRICS_PORT: 'off',
      LOCAL_CLOUD: 'off',
      STAGI_DATA: data,
      HOME: '/nonexistent',
    };
    const ids = [`--reuid=${SERVICE}`, `--regid=${SERVICE}`, '--clear-groups'];
    const child = spawn('setpriv', [...ids, process.execPath, 'scripts/bootstrap.mjs', 'start'], {
      cwd: checkout,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
    const ended = once(child, 'close').then(([code]) => code as number | null);
    const stop = () => {
      child.kill();
      return ended;
    };
    return { url, output: () => text, ended, stop };
  }

  /** Answers null while it does not listen. */
  const statusOf = (url: string) =>
    fetch(url).then(
      async (answer) => {
        await answer.body?.cancel();
        return answer.status;
      },
      () => null,
    );

  /** Without what npm and the bootstrap of this test set for it. */
  function environment() {
    const ours = /^(npm_|NODE_COMPILE_CACHE$|GLIBC_TUNABLES$|STAGI_|INSTALL_SECONDS$)/;
    return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
  }
});
