import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { STREAMS_FEATURE } from '@stagi/contract/daemonStreams.ts';
import type { DesiredStore } from '@stagi/daemon/src/desiredState.ts';
import type { FileDeps } from '@stagi/daemon/src/streams/fileStreams.ts';
import { streamHandlers } from '@stagi/daemon/src/streams/handlers.ts';
import { createStreamServer } from '@stagi/daemon/src/streams/streamServer.ts';
import type { TerminalDeps } from '@stagi/daemon/src/streams/terminal/terminalStreams.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { connectDaemon, enrolNode, type TestDaemon } from '@stagi/server/src/testing/daemon.ts';

/** No test of ports opens files. */
const NO_FILES = {} as FileDeps;

export interface PortDaemon {
  link: TestDaemon;
  /** Says which port of this machine the container's is bound to; 0: none. */
  bind(containerId: number, port: number, host: number): void;
  close(): Promise<void>;
}

/** A daemon in this process: its streams are served by the daemon's own code, its containers are what the test says. */
export async function startPortDaemon(app: TestApp, serverId: number, features?: string[]): Promise<PortDaemon> {
  const { token } = await app.ctx.db.transaction().execute((trx) => issueEnrolment(app.ctx, trx, serverId, 'rented'));
  return joinPortDaemon(app.url, token, features);
}

export async function joinPortDaemon(
  origin: string,
  token: string,
  features: string[] = [STREAMS_FEATURE],
): Promise<PortDaemon> {
  const key = await enrolNode(origin, token);
  const identity = {
    node: key.node,
    origin,
    commandKey: key.commandKey,
    kind: 'rented',
    jti: 'test',
  } as const;
  const desired = { containers: [] as object[] };
  const actual: ActualContainer[] = [];
  const link = await connectDaemon(origin, key, { features });
  const ended = new AbortController();
  const server = createStreamServer(
    identity,
    streamHandlers({
      ...NO_FILES,
      desired: { current: () => desired } as unknown as DesiredStore,
      actual: () => actual,
      terminal: {} as TerminalDeps,
    }),
  );
  link.socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString());
    if (message.type === 'streams') server.dial(message.ticket, message.epoch, ended.signal);
  });
  link.socket.on('close', () => ended.abort());
  return {
    link,
    bind(containerId, port, host) {
      const ports = [{ host, container: port, address: '127.0.0.1' }];
      desired.containers = [{ id: containerId, state: 'running', spec: { ports } }];
      actual.splice(0, actual.length, {
        id: containerId,
        gen: 1,
        dockerId: String(containerId),
        state: 'running',
        exitCode: null,
        oomKilled: false,
        error: null,
        startedAt: null,
        finishedAt: null,
        ports,
      });
    },
    close: () => link.close(),
  };
}
