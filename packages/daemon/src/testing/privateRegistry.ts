import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { pack } from 'tar-stream';
import { docker, TEST_IMAGE } from './image.ts';

/** The only user of a private registry: `htpasswd` holds their password as bcrypt. */
export const PULLER = { username: 'puller', password: 'canary-password-81c2f0' };
const HTPASSWD = 'puller:$2y$05$0O99zEbOHq6sf0J71C6hRe001/mEEwVBOh78psOFXT0AQVSuSkPbK\n';
const PATIENCE_MS = 60_000;

/** Debian's `docker-registry` on a loopback port, which asks for a login. */
export interface PrivateRegistry {
  /** `127.0.0.1:PORT` */
  host: string;
  /** Stores an image of the test image and one layer of random bytes for each size. It is not kept in Docker. */
  push(name: string, layerSizes: readonly number[]): Promise<string>;
  close(): Promise<void>;
}

export async function startPrivateRegistry(): Promise<PrivateRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'stagi-registry-'));
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  await writeFile(join(folder, 'htpasswd'), HTPASSWD);
  await writeFile(
    join(folder, 'config.yml'),
    JSON.stringify({
      version: 0.1,
      log: { level: 'error' },
      storage: { filesystem: { rootdirectory: join(folder, 'data') } },
      http: { addr: host },
      auth: { htpasswd: { realm: 'private', path: join(folder, 'htpasswd') } },
    }),
  );
  const process = spawn('docker-registry', ['serve', join(folder, 'config.yml')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await untilItAnswers(process, host);
  return {
    host,
    async push(name, layerSizes) {
      const image = `${host}/${name}`;
      await layeredImage(image, layerSizes);
      const answer = await docker.getImage(image).push({ authconfig: { ...PULLER, serveraddress: host } });
      const said = await text(answer);
      if (said.includes('"error"')) throw new Error(`the image was not pushed: ${said.slice(-300)}`);
      await docker.getImage(image).remove();
      return image;
    },
    async close() {
      const ended = once(process, 'exit');
      process.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilItAnswers(process: ChildProcess, host: string): Promise<void> {
  let said = '';
  for (const stream of [process.stdout, process.stderr]) stream?.on('data', (chunk) => (said += chunk));
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await new Promise((next) => setTimeout(next, 50))) {
    if (process.exitCode !== null) break;
    const answer = await fetch(`http://${host}/v2/`).catch(() => null);
    if (answer?.status === 401) return;
  }
  throw new Error(`docker-registry does not start: ${said}`);
}

/** An image on top of the test image, with layers of these sizes. */
export async function layeredImage(
  name: string,
  layerSizes: readonly number[],
  labels: Record<string, string> = {},
): Promise<void> {
  const at = name.lastIndexOf(':');
  const [repo, tag] = [name.slice(0, at), name.slice(at + 1)];
  let base = TEST_IMAGE;
  for (const [index, bytes] of layerSizes.entries()) {
    const made = await docker.createContainer({ Image: base, Cmd: ['true'], Labels: labels });
    try {
      const tar = pack();
      tar.entry({ name: `layer-${index}` }, randomBytes(bytes));
      tar.finalize();
      await made.putArchive(tar, { path: '/' });
      await made.commit({ repo, tag });
    } finally {
      await made.remove({ force: true });
    }
    base = name;
  }
}
