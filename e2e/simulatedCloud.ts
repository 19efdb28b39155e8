import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlatformMessage } from '@stagi/contract/daemon.ts';
import { DesiredState } from '@stagi/contract/desiredState.ts';
import { encodeRecord } from '@stagi/contract/frames.ts';
import { spawnFakeCloud } from '@stagi/server/src/providers/fake/control.ts';
import { builtDaemonEnv } from '@stagi/server/src/testing/cloudApp.ts';
import { enrolNode } from '@stagi/server/src/testing/daemon.ts';
import { connectLiveDaemon } from './liveDaemon.ts';
import { type Platform, startPlatform } from './platform.ts';
import { until } from './waitUntil.ts';

const PROVISION_MS = 500;
const LOG = 1;

/** The platform with the simulated cloud: the whole main job without Docker. */
export interface SimulatedPlatform extends Platform {
  /** A server of somebody's own with this enrolment; it shows what is wanted of it as done. */
  join(token: string): Promise<Machine>;
}

export interface Machine {
  /** Prints lines in the only container. */
  print(...lines: string[]): Promise<void>;
  shutDown(): Promise<void>;
}

export async function startSimulatedPlatform(
  environment: string,
  env: Record<string, string> = {},
): Promise<SimulatedPlatform> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-simulated-'));
  const cloud = await spawnFakeCloud({ statePath: join(folder, 'state.json'), provisionMs: PROVISION_MS });
  const platform = await startPlatform(environment, {
    LOCAL_CLOUD: 'off',
    FAKE_CLOUD_URL: cloud.url,
    STARTER_CREDIT: '50',
    ...builtDaemonEnv(folder),
    ...env,
  });
  return {
    ...platform,
    join: (token) => runMachine(platform.url, token),
    async stop() {
      await platform.stop();
      await cloud.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function runMachine(url: string, token: string): Promise<Machine> {
  const daemon = await connectLiveDaemon(url, await enrolNode(url, token));
  daemon.applyDesired(await daemon.desired());
  daemon.socket.on('message', (data: Buffer) => {
    const message = PlatformMessage.parse(JSON.parse(data.toString()));
    if (message.type === 'desired') daemon.applyDesired(stateIn(message.document));
  });
  let from: number | null = null;
  return {
    async print(...lines) {
      const [container] = daemon.inventory.containers;
      if (!container) throw new Error('no container runs there');
      if (from === null) {
        daemon.send({ type: 'log-open', stream: LOG, containerId: container.id, epoch: 'docker id' });
        const resume = await until('the log is taken', 20_000, () => daemon.next('log-resume').catch(() => null));
        from = resume.cursor.offset;
      }
      const at = BigInt(Date.now()) * 1_000_000n;
      const records = lines.map((text, index) =>
        encodeRecord({ timeNs: at + BigInt(index), stream: 'stdout', partial: false, text: Buffer.from(text) }),
      );
      const bytes = Buffer.concat(records);
      daemon.sendBytes(LOG, from, bytes);
      from += bytes.length;
    },
    shutDown: daemon.close,
  };
}

/** Unverified: the daemon's own tests check signatures. */
function stateIn(document: string): DesiredState {
  return DesiredState.parse(JSON.parse(Buffer.from(document.split('.')[1] ?? '', 'base64url').toString()));
}
