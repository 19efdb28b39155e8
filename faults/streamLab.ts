import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { STREAMS_FEATURE, type StreamTarget } from '@stagi/contract/daemonStreams.ts';
import { HOST_TERMINAL_FEATURE, TERMINAL_FEATURE } from '@stagi/contract/terminals.ts';
import type { DesiredStore } from '@stagi/daemon/src/desiredState.ts';
import type { ExecEngine } from '@stagi/daemon/src/dockerExec.ts';
import type { Identity } from '@stagi/daemon/src/identity.ts';
import { streamHandlers } from '@stagi/daemon/src/streams/handlers.ts';
import { createStreamServer } from '@stagi/daemon/src/streams/streamServer.ts';
import { openTerminals } from '@stagi/daemon/src/streams/terminal/terminals.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { connectDaemon, enrolNode, type NodeKey, type TestDaemon } from '@stagi/server/src/testing/daemon.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { fileDeps } from './filesDaemon.ts';

/** No terminal of a container is opened here. */
const NO_ENGINE = {} as ExecEngine;

const features = [STREAMS_FEATURE, TERMINAL_FEATURE, HOST_TERMINAL_FEATURE];
const dockerIdOf = async (): Promise<null> => null;

/** A platform and a link to it, whose streams are served by the daemon's own code. */
export interface StreamLab {
  app: TestApp;
  /** Rents the server. */
  owner: Person;
  serverId: number;
  key: NodeKey;
  desired: { containers: object[] };
  actual: { containers: ActualContainer[] };
  /** Of the latest link. */
  daemon: TestDaemon;
  link: AbortController;
  open(target: StreamTarget): Promise<Duplex>;
  /** The daemon's own server of streams, for a platform at this origin. */
  streamServer(origin: string): ReturnType<typeof createStreamServer>;
  /** Links the daemon again. */
  dialIn(): Promise<void>;
  close(): Promise<void>;
}

export async function startStreamLab(): Promise<StreamLab> {
  // Without workers, which would take the server for lost: its daemon sends no heartbeats.
  const app = await startTestApp({}, { role: 'api' });
  const owner = await app.signUp();
  const serverId = await aRentedInstance(app.ctx, owner);
  const { token } = await app.ctx.db.transaction().execute((trx) => issueEnrolment(app.ctx, trx, serverId, 'rented'));
  const key = await enrolNode(app.url, token);
  const identity: Identity = {
    node: key.node,
    origin: app.url,
    commandKey: key.commandKey,
    kind: 'rented',
    jti: 'test',
  };
  const folder = await mkdtemp(join(tmpdir(), 'stagi-streams-'));
  const desired: StreamLab['desired'] = { containers: [] };
  const actual: StreamLab['actual'] = { containers: [] };
  const files = await fileDeps(folder, { current: () => desired } as unknown as DesiredStore);
  const terminals = await openTerminals(NO_ENGINE, join(folder, 'terminals.json'));
  const terminal = { engine: NO_ENGINE, terminals, policy: async () => ({ hostTerminal: true }), dockerIdOf };
  const streamServer = (origin: string) =>
    createStreamServer(
      { ...identity, origin },
      streamHandlers({ ...files, actual: () => actual.containers, terminal }),
    );

  async function connect(): Promise<{ daemon: TestDaemon; link: AbortController }> {
    const daemon = await connectDaemon(app.url, key, { features });
    const link = new AbortController();
    const server = streamServer(app.url);
    daemon.socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString());
      if (message.type === 'streams') server.dial(message.ticket, message.epoch, link.signal);
    });
    daemon.socket.on('close', () => link.abort());
    return { daemon, link };
  }

  const lab: StreamLab = {
    ...{ app, owner, serverId, key, desired, actual, streamServer },
    ...(await connect()),
    open: (target) => app.ctx.streams.open(serverId, target),
    async dialIn() {
      Object.assign(lab, await connect());
    },
    async close() {
      lab.link.abort();
      await terminals.close();
      await lab.daemon.close();
      await app.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return lab;
}
