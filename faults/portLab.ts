import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aContainerWithPortOn } from '@stagi/server/src/testing/containerWithPort.ts';
import { anApiToken, aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { type PortDaemon, startPortDaemon } from './portDaemon.ts';

export const PORTS_DOMAIN = 'apps.localhost:4400';

/** A platform, a container with a private port, its daemon, and the program in it. */
export interface PortLab {
  app: TestApp;
  owner: Person;
  token: string;
  daemon: PortDaemon;
  containerId: number;
  /** The address of its port. */
  host: string;
  service: Server;
  /** Leads the container's port to this one of the machine. */
  bind(port: number): void;
  close(): Promise<void>;
}

export async function startPortLab(program: RequestListener): Promise<PortLab> {
  // Without workers, which would take the server for lost: its daemon sends no heartbeats.
  const app = await startTestApp({ APPS_DOMAIN: PORTS_DOMAIN }, { role: 'api' });
  const owner = await app.signUp('Ada');
  const { token } = await anApiToken(app.ctx, owner);
  const serverId = await aRentedInstance(app.ctx, owner);
  const daemon = await startPortDaemon(app, serverId);
  const { containerId, host } = await aPort(app, owner, serverId);
  const service = createServer(program);
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  return {
    ...{ app, owner, token, daemon, containerId, host, service },
    bind: (port) => daemon.bind(containerId, 80, port),
    async close() {
      service.close();
      service.closeAllConnections();
      await daemon.close();
      await app.close();
    },
  };
}

/** A container with a private port, and the address of it. */
export async function aPort(
  app: TestApp,
  owner: Person,
  serverId: number,
): Promise<{ containerId: number; host: string }> {
  const { id: containerId, slug } = await aContainerWithPortOn(app.ctx, owner, serverId);
  return { containerId, host: `${slug}-8080.${PORTS_DOMAIN}` };
}

export const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
