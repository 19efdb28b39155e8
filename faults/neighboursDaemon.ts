import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FILES_FEATURE } from '@stagi/contract/daemonFiles.ts';
import { STREAMS_FEATURE } from '@stagi/contract/daemonStreams.ts';
import { DesiredState } from '@stagi/contract/desiredState.ts';
import { HEARTBEAT_S } from '@stagi/contract/instances.ts';
import { HOST_TERMINAL_FEATURE, TERMINAL_FEATURE } from '@stagi/contract/terminals.ts';
import type { DesiredStore } from '@stagi/daemon/src/desiredState.ts';
import type { ExecEngine } from '@stagi/daemon/src/dockerExec.ts';
import { streamHandlers } from '@stagi/daemon/src/streams/handlers.ts';
import { createStreamServer } from '@stagi/daemon/src/streams/streamServer.ts';
import { openTerminals } from '@stagi/daemon/src/streams/terminal/terminals.ts';
import type { Db } from '@stagi/server/src/db/schema.ts';
import { connectDaemon, type NodeKey } from '@stagi/server/src/testing/daemon.ts';
import { decodeJwt } from 'jose';
import { containerWith, fileDeps } from './filesDaemon.ts';

/** No terminal of a container is opened here. */
const NO_ENGINE = {} as ExecEngine;

/** The container's only volume. */
export const VOLUME = '/data';

const AGAIN_MS = 500;

export interface SteadyDaemon {
  /** Resolves when it is linked. */
  linked(): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * A daemon in this process that stays linked, and links again when the platform comes back. The daemon's own code serves
 * terminals of its server, and files of its one container.
 */
export async function joinSteadyDaemon(db: Db, url: string, key: NodeKey, containerId: number): Promise<SteadyDaemon> {
  const folder = await mkdtemp(join(tmpdir(), 'stagi-neighbours-'));
  const directory = join(folder, 'volume');
  await mkdir(directory);
  await db
    .updateTable('container')
    .set({ directories: JSON.stringify([{ host: directory, container: VOLUME }]) })
    .where('id', '=', containerId)
    .execute();
  const desired = { containers: [containerWith(containerId, directory)] };
  const files = await fileDeps(folder, { current: () => desired } as unknown as DesiredStore);
  const terminals = await openTerminals(NO_ENGINE, join(folder, 'terminals.json'));
  const policy = async () => ({ hostTerminal: true });
  const server = createStreamServer(
    { node: key.node, origin: url, commandKey: key.commandKey, kind: 'rented', jti: 'test' },
    streamHandlers({
      ...files,
      actual: () => [],
      terminal: { engine: NO_ENGINE, terminals, policy, dockerIdOf: async () => null },
    }),
  );
  const features = [STREAMS_FEATURE, FILES_FEATURE, TERMINAL_FEATURE, HOST_TERMINAL_FEATURE];
  const stopping = new AbortController();
  let linked = Promise.withResolvers<void>();

  async function link(): Promise<void> {
    const daemon = await connectDaemon(url, key, { features });
    const over = new AbortController();
    const applyLast = (document: string): void => daemon.applyDesired(DesiredState.parse(decodeJwt(document)));
    daemon.socket.on('error', () => {});
    daemon.socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString());
      if (message.type === 'streams') server.dial(message.ticket, message.epoch, over.signal);
      if (message.type === 'desired') applyLast(message.document);
    });
    applyLast((await daemon.next('desired')).document);
    const beat = setInterval(
      () => daemon.send({ type: 'heartbeat', at: new Date().toISOString() }),
      HEARTBEAT_S * 1000,
    );
    const leave = (): void => daemon.socket.close();
    stopping.signal.addEventListener('abort', leave);
    if (stopping.signal.aborted) leave();
    linked.resolve();
    await daemon.closed;
    linked = Promise.withResolvers();
    clearInterval(beat);
    stopping.signal.removeEventListener('abort', leave);
    over.abort();
  }
  const linking = (async () => {
    while (!stopping.signal.aborted) {
      // Its terminals tell that it was away; why does not matter.
      await link().catch(() => {});
      await pause(AGAIN_MS, null, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    linked: () => linked.promise,
    async close() {
      stopping.abort();
      await terminals.close();
      await linking;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
