import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { announce } from '@stagi/server/src/bus/bus.ts';
import { startPortServer } from '@stagi/server/src/portProxy/testing/portServer.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startPortDaemon } from './portDaemon.ts';
import { aPort, type PortLab, portOf, startPortLab } from './portLab.ts';
import { visitPort } from './portVisitor.ts';
import { until } from './until.ts';

let lab: PortLab;
let app: TestApp;
let host: string;
/** What the program in the container does with a request. */
let program: (asked: IncomingMessage, answer: ServerResponse) => void;

beforeAll(async () => {
  lab = await startPortLab((asked, answer) => program(asked, answer));
  ({ app, host } = lab);
});
beforeEach(() => lab.bind(portOf(lab.service)));
afterAll(() => lab?.close());

const byToken = (more: Record<string, string> = {}) => ({ 'x-stagi-token': lab.token, ...more });

it('says in a plain page why there is no answer', async () => {
  const browser = { ...byToken(), accept: 'text/html', 'accept-language': 'de, tr;q=0.5' };
  lab.bind(1);
  const silent = await visitPort(app, host, { headers: browser });
  expect([silent.status, silent.headers['content-language']]).toEqual([502, 'tr']);
  expect(silent.body).toContain('<h1>Bu bağlantı noktasını dinleyen yok</h1>');
  expect(silent.headers['content-security-policy']).toContain("default-src 'none'");
  expect(silent.body).not.toContain('<script');
  const json = await visitPort(app, host, { headers: byToken({ accept: 'application/json' }) });
  expect([json.status, JSON.parse(json.body).isSuccess]).toEqual([502, false]);
  expect((await visitPort(app, host, { headers: byToken() })).body).toMatch(/^Nothing listens on this port\. /);

  const odd = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9\r\n'));
  });
  odd.listen(0, '127.0.0.1');
  await once(odd, 'listening');
  lab.bind(portOf(odd));
  const broken = await visitPort(app, host, { headers: byToken() });
  expect([broken.status, broken.body]).toEqual([502, expect.stringContaining('No valid answer')]);
  odd.close();

  lab.bind(portOf(lab.service));
  program = (asked, answer) => {
    answer.writeHead(200, { 'Content-Length': '1000' });
    answer.write('part', () => asked.socket.destroy());
  };
  // The visitor must not take a part for the whole.
  await expect(visitPort(app, host, { headers: byToken() })).rejects.toMatchObject({ code: 'ECONNRESET' });

  await setStatus('stopped');
  expect((await visitPort(app, host, { headers: byToken() })).body).toContain('The container is not running');
  await setStatus('running');
});

it('says in a plain page that the answer took too long', async () => {
  const held: ServerResponse[] = [];
  program = (_asked, answer) => void held.push(answer);
  const impatient = await startPortServer(app.ctx, { firstByteMs: 200 });
  const visit = (more: Record<string, string>) => visitPort(impatient, host, { headers: byToken(more) });
  const [page, json, text] = await Promise.all([
    visit({ accept: 'text/html', 'accept-language': 'ru' }),
    visit({ accept: 'application/json' }),
    visit({}),
  ]);
  expect([page.status, page.headers['content-language']]).toEqual([504, 'ru']);
  expect(page.body).toContain('<h1>Нет ответа вовремя</h1>');
  expect(page.body).not.toContain('<script');
  expect([json.status, JSON.parse(json.body)]).toEqual([
    504,
    {
      isSuccess: false,
      message: 'No answer in time. The program in the container took too long to answer.',
    },
  ]);
  expect([text.status, text.body]).toEqual([504, expect.stringMatching(/^No answer in time\. /)]);
  expect(held).toHaveLength(3);

  // An answer that has begun may pause: it is not cut when a silent request after it is.
  program = (_asked, answer) => void held.push(answer);
  const paused = visit({});
  const [begun] = await until('the container is asked', async () => (held.length > 3 ? held.slice(3) : null));
  begun?.write('begun');
  expect((await visit({})).status).toBe(504);
  begun?.end(' and ended');
  expect(await paused).toMatchObject({ status: 200, body: 'begun and ended' });
  await impatient.close();
});

it('says in a plain page that the agent is too old', async () => {
  const serverId = await aRentedInstance(app.ctx, lab.owner);
  const old = await startPortDaemon(app, serverId, []);
  const { host: at } = await aPort(app, lab.owner, serverId);
  const page = await visitPort(app, at, { headers: byToken({ accept: 'text/html', 'accept-language': 'zh' }) });
  expect([page.status, page.headers['content-language']]).toEqual([503, 'zh']);
  expect(page.body).toContain('<h1>服务器的代理程序版本过旧</h1>');
  const text = await visitPort(app, at, { headers: byToken() });
  expect([text.status, text.body]).toEqual([
    503,
    'The agent of the server is too old. It cannot pass requests on. Install it again on the server.\n',
  ]);
  await old.close();
});

async function setStatus(status: 'running' | 'stopped'): Promise<void> {
  await app.ctx.db.updateTable('container').set({ status }).where('id', '=', lab.containerId).execute();
  await app.ctx.db.transaction().execute(async (trx) => {
    await announce(trx, 'changed', {
      entity: 'docker-container',
      id: lab.containerId,
      workspaceId: lab.owner.workspaceId,
    });
  });
  await until('the status is known', async () => {
    const { body } = await visitPort(app, host, { headers: byToken() }).catch(() => ({ body: '' }));
    return body.includes('not running') === (status === 'stopped') ? true : null;
  });
}

it('says so when the server of the container is not connected', async () => {
  await lab.daemon.close();
  const away = await until('the link has ended', async () => {
    const got = await visitPort(app, host, { headers: byToken() }).catch(() => null);
    return got?.status === 503 ? got : null;
  });
  expect(away.body).toContain('The server cannot be reached');
});
