import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FILES_FEATURE } from '@stagi/contract/daemonFiles.ts';
import { STREAMS_FEATURE } from '@stagi/contract/daemonStreams.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import type { DesiredStore } from '@stagi/daemon/src/desiredState.ts';
import type { Identity } from '@stagi/daemon/src/identity.ts';
import { pathsFrom } from '@stagi/daemon/src/paths.ts';
import { authorizeContainer, loadPolicy } from '@stagi/daemon/src/policy.ts';
import { type FileDeps, fileStreams } from '@stagi/daemon/src/streams/fileStreams.ts';
import { streamHandlers } from '@stagi/daemon/src/streams/handlers.ts';
import { createStreamServer, type StreamHandler } from '@stagi/daemon/src/streams/streamServer.ts';
import type { TerminalDeps } from '@stagi/daemon/src/streams/terminal/terminalStreams.ts';
import { openUploadRecords } from '@stagi/daemon/src/volumes/uploadRecords.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { connectDaemon, enrolNode } from '@stagi/server/src/testing/daemon.ts';
import { aContainer, aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';

/**
 * A rented server with one container, whose files the daemon's own code serves in this process. It sends no heartbeats:
 * the platform must run without workers, which would take the server for lost.
 */
export interface FilesDaemon {
  serverId: number;
  containerId: number;
  /** On the server: what the container has at `/data`. */
  directory: string;
  deps: FileDeps;
  desired: { containers: DesiredContainer[] };
  /** Ends the link, with all its streams, and joins again. */
  rejoin(features?: string[], files?: StreamHandler<'file'>): Promise<void>;
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** No test of files opens one. */
const NO_TERMINALS = {} as TerminalDeps;

/** Deps of the daemon's files with the policy of an own server whose owner allows any directory but the system's. */
export async function fileDeps(folder: string, desired: DesiredStore): Promise<FileDeps> {
  const paths = pathsFrom({ STAGI_CONFIG_DIR: join(folder, 'etc'), STAGI_STATE_DIR: join(folder, 'state') });
  return {
    desired,
    uploads: await openUploadRecords(paths.uploads),
    authorize: async (container) => {
      const policy = await loadPolicy(paths, 'self-hosted');
      return authorizeContainer(container, { ...policy, volumeRoots: ['/'] }, paths);
    },
  };
}

export async function joinFilesDaemon(app: TestApp, owner: Person): Promise<FilesDaemon> {
  const folder = await mkdtemp(join(tmpdir(), 'stagi-files-'));
  const directory = join(folder, 'volume');
  const serverId = await aRentedInstance(app.ctx, owner);
  const containerId = await aContainer(app.ctx, owner, serverId);
  await app.ctx.db
    .updateTable('container')
    .set({ directories: JSON.stringify([{ host: directory, container: '/data' }]) })
    .where('id', '=', containerId)
    .execute();
  const { token } = await app.ctx.db.transaction().execute((trx) => issueEnrolment(app.ctx, trx, serverId, 'rented'));
  const key = await enrolNode(app.url, token);
  const identity: Identity = {
    node: key.node,
    origin: app.url,
    commandKey: key.commandKey,
    kind: 'rented',
    jti: 'test',
  };
  const desired = { containers: [containerWith(containerId, directory)] };
  const deps = await fileDeps(folder, { current: () => desired } as unknown as DesiredStore);

  async function dialIn(features = [STREAMS_FEATURE, FILES_FEATURE], file = fileStreams(deps)) {
    const joined = await connectDaemon(app.url, key, { features });
    const link = new AbortController();
    const server = createStreamServer(identity, {
      ...streamHandlers({ ...deps, actual: () => [], terminal: NO_TERMINALS }),
      file,
    });
    joined.socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString());
      if (message.type === 'streams') server.dial(message.ticket, message.epoch, link.signal);
    });
    joined.socket.on('close', () => link.abort());
    return joined;
  }
  let joined = await dialIn();
  return {
    serverId,
    containerId,
    directory,
    deps,
    desired,
    async rejoin(features, files) {
      await joined.close();
      joined = await dialIn(features, files);
    },
    leave: () => joined.close(),
    async close() {
      await joined.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function containerWith(id: number, directory: string): DesiredContainer {
  return {
    id,
    gen: 1,
    slug: `files-${id}`,
    state: 'running',
    spec: {
      image: 'busybox',
      command: null,
      env: [],
      nanoCpus: 1e9,
      memoryBytes: null,
      gpuIds: [],
      ports: [],
      directories: [{ host: directory, container: '/data' }],
      restartPolicy: 'no',
    },
  };
}
