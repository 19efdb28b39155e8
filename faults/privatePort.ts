import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { api } from '@stagi/contract/api.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { passOf, requestCookieOf, stateOf, visitHost } from '@stagi/server/src/containerAccess/testing/portHost.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aContainer, aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { WebSocketServer } from 'ws';
import { letIn } from './letIn.ts';
import { startPortDaemon } from './portDaemon.ts';
import { PORTS_DOMAIN, portOf } from './portLab.ts';

/** A platform, a container with two private ports, and a program behind the first, which echoes over WebSockets. */
export interface PrivatePort {
  app: TestApp;
  owner: Person;
  containerId: number;
  slug: string;
  /** The address of the first port. */
  host: string;
  /** The cookie that the owner's browser shows at it. */
  pass: string;
  /** Requests and WebSockets that have reached the container. */
  reached: string[];
  /** The pass that a browser gets for the port. */
  passFor(person: Person): Promise<string>;
  addMember(person: Person, role: Role): Promise<void>;
  close(): Promise<void>;
}

export async function startPrivatePort(): Promise<PrivatePort> {
  const app = await startTestApp({ APPS_DOMAIN: PORTS_DOMAIN });
  const owner = await app.signUp('Ada');
  const serverId = await aRentedInstance(app.ctx, owner);
  const daemon = await startPortDaemon(app, serverId);
  const containerId = await aContainer(app.ctx, owner, serverId);
  const ports = [
    { host: 8080, container: 80, visibility: 'private' },
    { host: 8081, container: 81, visibility: 'private' },
  ];
  const { slug } = await app.ctx.db
    .updateTable('container')
    .set({ ports: JSON.stringify(ports) })
    .where('id', '=', containerId)
    .returning('slug')
    .executeTakeFirstOrThrow();
  const host = `${slug}-8080.${PORTS_DOMAIN}`;
  const reached: string[] = [];
  const service = createServer((asked, answer) => {
    reached.push(`${asked.method} ${asked.url}`);
    answer.end(`headers ${asked.rawHeaders.join('|')}`);
  });
  new WebSocketServer({ server: service }).on('connection', (socket, asked: IncomingMessage) => {
    reached.push(`socket ${asked.url}`);
    socket.on('message', (data) => socket.send(String(data)));
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  daemon.bind(containerId, 80, portOf(service));

  async function passFor({ client }: Person): Promise<string> {
    const trip = requestCookieOf(await visitHost(app, host, '/'));
    const { link } = await client(api.containerAccess.enter, {
      slug,
      returnUrl: `http://${host}/`,
      trip: stateOf(trip),
    });
    const { pathname, search } = new URL(link);
    return passOf(await visitHost(app, host, pathname + search, { cookie: trip }));
  }
  return {
    ...{ app, owner, containerId, slug, host, reached, passFor },
    pass: await passFor(owner),
    addMember: (person, role) => letIn(app.ctx.db, owner, person, role),
    async close() {
      service.close();
      service.closeAllConnections();
      await daemon.close();
      await app.close();
    },
  };
}

export const cookieOf = (pass: string) => ({ cookie: `stagi-port=${pass}` });
