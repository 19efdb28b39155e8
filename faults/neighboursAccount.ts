import { signed } from '@stagi/server/src/objects/testing/signedRequest.ts';
import { ask, begin, head, hold, holdBySsh, logInBySsh, openSocket, upgrade } from './neighboursClients.ts';
import {
  type Account,
  API,
  agentOfAttackers,
  each,
  JSON_TYPE,
  linkAttempts,
  linkOpenings,
  portOf,
  type Target,
  timesEach,
  type Ways,
} from './neighboursWays.ts';

/** More than a body that needs no room of its own. */
const LARGE_BODY = JSON.stringify({ id: 1, volume: '/data', path: 'x', text: '\n'.repeat(700_000), etag: null });
const SLOW_BODY_BYTES = 6_000_000;
const SLOW_OBJECT_BYTES = 10_000_000;
const STILL_OF_BODY = Buffer.alloc(200_000, ' ');
/** A packet of 4 KB, of which a byte comes now and then (gitprotocol-common(5)). */
const ENDLESS_PACKET = '0fff';

const everyFifth = (clients: number): number => Math.ceil(clients / 5);

/** With the credentials of one account, against each listener. */
export async function waysOfAccount(target: Target, account: Account, signal: AbortSignal): Promise<Ways> {
  const { url, s3Url, gitSshPort } = target;
  const { host } = new URL(url);
  const port = portOf(url);
  const agent = agentOfAttackers();
  const workspaceOf = (number: number) => account.workspaces[number % account.workspaces.length]!;
  const first = workspaceOf(0);
  const headersOf = ({ id, token }: Account['workspaces'][number]) => ({
    authorization: `Bearer ${token}`,
    'x-client-id': String(id),
  });
  const called = (path: string, body: object | string, by = first) =>
    ask({
      ...{ url, agent, signal, method: 'POST', path: API + path },
      headers: { ...headersOf(by), ...JSON_TYPE },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const call = async (path: string, body: object | string, by = first) => String((await called(path, body, by)).status);
  const callHead = (path: string, bytes: number, by = first): string =>
    head('POST', API + path, [
      ['host', host],
      ...Object.entries({ ...headersOf(by), ...JSON_TYPE }),
      ['content-length', bytes],
    ]);
  async function ticket(by = first): Promise<string> {
    const { status, text } = await called('stream-ticket', {}, by);
    if (status !== 200) throw new Error(`ticket ${status}`);
    return (JSON.parse(text) as { ticket: string }).ticket;
  }
  const log = { type: 'docker-container', id: account.containerId } as const;
  const tailOf = (given: string): string =>
    `${API}logging/tail?${new URLSearchParams({ ticket: given, type: log.type, id: String(log.id), after: '0' })}`;
  const eventsOf = (given: string): string => `${API}events?${new URLSearchParams({ ticket: given })}`;
  const gitPath = ({ id, slug }: Account['workspaces'][number]): string => `${id}/${slug}.git`;
  const basic = (token: string): string => `Basic ${Buffer.from(`git:${token}`).toString('base64')}`;
  const raw = await rawFile();

  /** On the host of contents, which has the same port. */
  async function rawFile(): Promise<URL> {
    const at = { id: account.projectId, branch: account.largeBranch };
    const { status, text } = await called('project/code/tree', at);
    const link = /"raw":\{"link":"([^"]+)"/.exec(text)?.[1];
    if (!link) throw new Error(`no raw files: ${status} ${text.slice(0, 200)}`);
    return new URL(account.largeFile, link);
  }

  const object = (key: string, method: string, body?: Buffer) =>
    signed(s3Url, account.s3Key, {
      ...{ method, path: `/${account.bucket}/${key}` },
      ...(body ? { body } : { payloadHash: 'UNSIGNED-PAYLOAD' }),
    });
  const slowObject = (): string => {
    const { target: path, headers } = object('slow', 'PUT');
    const kept = headers.filter(([name]) => name !== 'content-length');
    return head('PUT', path, [...kept, ['content-length', SLOW_OBJECT_BYTES]]);
  };

  const lists: [string, object][] = [
    ['instance-rented/list', {}],
    ['docker-container/list', {}],
    ['project/list', {}],
    ['storage/list', {}],
    ['ssh-key/list', {}],
    ['billing/balance', {}],
  ];

  return {
    slow: [
      {
        name: 'bodies of calls',
        holds: each,
        open: (number) =>
          hold({ port, first: callHead('project/list', 5_000, workspaceOf(number)), drop: ' ', reads: true }),
      },
      {
        name: 'answers of calls',
        holds: everyFifth,
        open() {
          const body = JSON.stringify({ source: log, limit: 1_000 });
          return hold({ port, first: callHead('logging/query', body.length) + body });
        },
      },
      {
        name: 'large bodies',
        holds: each,
        open: (number) =>
          hold({
            ...{ port, drop: ' ', reads: true },
            first: Buffer.concat([
              Buffer.from(callHead('docker-container/file/write', SLOW_BODY_BYTES, workspaceOf(number))),
              STILL_OF_BODY,
            ]),
          }),
      },
      {
        name: 'event streams',
        holds: timesEach(3),
        open: async (number) =>
          hold({ port, first: upgrade(host, eventsOf(await ticket(workspaceOf(number)))), reads: true }),
      },
      {
        name: 'log tails',
        holds: each,
        open: async () => hold({ port, first: upgrade(host, tailOf(await ticket())) }),
      },
      {
        name: 'raw files of code',
        holds: each,
        open: () => hold({ port, first: head('GET', raw.pathname, [['host', raw.host]]) }),
      },
      {
        name: 'git over HTTP',
        holds: each,
        open(number) {
          const workspace = workspaceOf(number);
          const beginning = head('POST', `/git/${gitPath(workspace)}/git-upload-pack`, [
            ['host', host],
            ['authorization', basic(workspace.token)],
            ['content-type', 'application/x-git-upload-pack-request'],
            ['transfer-encoding', 'chunked'],
          ]);
          return hold({ port, first: `${beginning}4\r\n${ENDLESS_PACKET}\r\n`, drop: '1\r\nw\r\n', reads: true });
        },
      },
      {
        name: 'git over SSH',
        holds: each,
        open: (number) =>
          holdBySsh(gitSshPort, account.sshKey, `git-upload-pack '/${gitPath(workspaceOf(number))}'`, signal),
      },
      {
        name: 'puts of objects',
        holds: each,
        open: () => hold({ port: portOf(s3Url), first: slowObject(), drop: 'x', reads: true }),
      },
      {
        name: 'gets of objects',
        holds: each,
        open() {
          const { target: path, headers } = object(account.largeKey, 'GET');
          return hold({ port: portOf(s3Url), first: head('GET', path, headers) });
        },
      },
      linkOpenings(target),
    ],
    greedy: [
      { name: 'calls', ask: (number) => call(...lists[number % lists.length]!, workspaceOf(number)) },
      { name: 'large bodies', ask: (number) => call('docker-container/file/write', LARGE_BODY, workspaceOf(number)) },
      { name: 'event streams', ask: async (number) => reopen(eventsOf(await ticket(workspaceOf(number)))) },
      { name: 'log tails', ask: async () => reopen(tailOf(await ticket())) },
      { name: 'log searches', ask: () => call('logging/query', { source: log, mode: 'contains', text: 'not there' }) },
      {
        name: 'code searches',
        ask: () =>
          call('project/code/search', { id: account.projectId, branch: account.bombBranch, query: 'not there' }),
      },
      {
        name: 'raw files of code',
        ask: async () =>
          String((await ask({ url, path: raw.pathname, headers: { host: raw.host }, agent, signal })).status),
      },
      {
        name: 'git over HTTP',
        async ask(number) {
          const workspace = workspaceOf(number);
          const path = `/git/${gitPath(workspace)}/info/refs?service=git-upload-pack`;
          const { status } = await ask({
            ...{ url, path, agent, signal },
            headers: { authorization: basic(workspace.token) },
          });
          return String(status);
        },
      },
      {
        name: 'git over SSH',
        async ask(number) {
          const client = await logInBySsh(gitSshPort, account.sshKey, signal);
          try {
            const channel = await begin(client, `git-upload-pack '/${gitPath(workspaceOf(number))}'`);
            const ended = new Promise<string>((resolve) => {
              channel.once('exit', (code: number) => resolve(`exit ${code}`));
              client.once('close', () => resolve('closed'));
            });
            channel.resume().end('0000');
            return await ended;
          } finally {
            client.destroy();
          }
        },
      },
      {
        name: 'objects',
        async ask(number) {
          const method = number % 2 ? 'GET' : 'PUT';
          const body = method === 'PUT' ? Buffer.alloc(16_000, number % 256) : undefined;
          const { target: path, headers } = object(`greedy-${number % 20}`, method, body);
          const { status } = await ask({
            ...{ url: s3Url, path, method, agent, signal, ...(body && { body }) },
            headers: Object.fromEntries(headers),
          });
          return String(status);
        },
      },
      linkAttempts(target, signal),
    ],
  };

  async function reopen(path: string): Promise<string> {
    const { outcome, socket } = await openSocket(url, path, signal);
    socket.terminate();
    return String(outcome);
  }
}
