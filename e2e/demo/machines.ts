import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { type DesiredContainer, DesiredState } from '@stagi/contract/desiredState.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { NodeKey, TestDaemon } from '@stagi/server/src/testing/daemon.ts';
import { connectLiveDaemon } from '../liveDaemon.ts';

export interface Machine {
  daemon: TestDaemon;
  /** What a container is like from now on. */
  say(id: number, change: Partial<ActualContainer>): void;
  close(): Promise<void>;
}

interface Given {
  facts: Partial<MachineFacts>;
  images: { reference: string; sizeBytes: number }[];
  /** When its containers have started. */
  startedAt: string;
}

/** A machine of the made-up workspace: it does at once what the platform wants of it. */
export async function startMachine(url: string, key: NodeKey, { facts, images, startedAt }: Given): Promise<Machine> {
  const daemon = await connectLiveDaemon(url, key, { facts, features: ['tasks', 'usage', 'images', 'edit'] });
  const said = new Map<number, Partial<ActualContainer>>();
  daemon.inventory.images = images.map((image) => ({ ...image, createdAt: null, ours: true }));
  let wanted: DesiredState | null = null;
  const tell = () => {
    if (wanted) {
      daemon.inventory.appliedGen = wanted.gen;
      daemon.inventory.containers = wanted.containers
        .filter(({ state }) => state !== 'absent')
        .map((container) => ({ ...actualOf(container, startedAt), ...said.get(container.id) }));
    }
    daemon.sendInventory();
  };
  const take = (text: string) => {
    const message = JSON.parse(text) as { type: string; document?: string };
    if (message.type !== 'desired' || !message.document) return;
    wanted = DesiredState.parse(JSON.parse(Buffer.from(message.document.split('.')[1] ?? '', 'base64url').toString()));
    tell();
  };
  for (const message of daemon.received) take(JSON.stringify(message));
  daemon.socket.on('message', (data: Buffer) => take(data.toString()));
  tell();
  return {
    daemon,
    say(id, change) {
      said.set(id, { ...said.get(id), ...change });
      tell();
    },
    close: daemon.close,
  };
}

function actualOf({ id, gen, specNo, state, spec, task }: DesiredContainer, startedAt: string): ActualContainer {
  const isRunning = state === 'running';
  return {
    id,
    gen,
    specNo,
    dockerId: `${id}`.padStart(4, '0').repeat(16),
    state: isRunning ? 'running' : 'exited',
    exitCode: isRunning ? null : 0,
    oomKilled: false,
    error: null,
    startedAt,
    finishedAt: isRunning ? null : new Date().toISOString(),
    ports: spec.ports.map(({ host, container }) => ({ host, container, address: '0.0.0.0' })),
    ...(task
      ? { task: { phase: 'ready', files: 0, bytes: 0, skipped: 0, error: null, timedOut: false, interrupted: false } }
      : {}),
  };
}
