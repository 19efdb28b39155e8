import { signed } from '@stagi/server/src/objects/testing/signedRequest.ts';
import { ask, head, hold, logInBySsh, openSocket } from './neighboursClients.ts';
import {
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

/** Without any account, from one address, against each listener. */
export function waysOfStranger(target: Target, unknownSshKey: string, signal: AbortSignal): Ways {
  const { url, s3Url, gitSshPort } = target;
  const { host } = new URL(url);
  const port = portOf(url);
  const agent = agentOfAttackers();
  const call = async (path: string, body: object): Promise<string> => {
    const asked = { url, agent, signal, method: 'POST', path: API + path, headers: JSON_TYPE };
    return String((await ask({ ...asked, body: JSON.stringify(body) })).status);
  };
  const get = async (path: string, at = { url, host }): Promise<string> =>
    String((await ask({ url: at.url, path, headers: { host: at.host }, agent, signal })).status);
  const calls: [string, object][] = [
    ['content/list', { language: 'en' }],
    ['model/list', {}],
    ['model/facets', {}],
    ['public-offer/list', {}],
    ['auth/email/authentication', { email: 'nobody@example.com', password: 'Correct-horse-8' }],
  ];
  const pages = ['/', '/openapi.json', '/search-index.en.json', '/configuration.json'];
  const unknownKey = { accessKeyId: 'STGUNKNOWNUNKNOWNUNK', secretAccessKey: 'x'.repeat(40) };

  return {
    slow: [
      { name: 'silent connections', holds: timesEach(4), open: () => hold({ port, first: '', reads: true }) },
      {
        name: 'bodies of calls',
        holds: each,
        open() {
          const headers: [string, string | number][] = [
            ['host', host],
            ['content-length', 5_000],
          ];
          const path = `${API}auth/email/authentication`;
          return hold({
            port,
            first: head('POST', path, [...headers, ...Object.entries(JSON_TYPE)]),
            drop: ' ',
            reads: true,
          });
        },
      },
      {
        name: 'silent SSH connections',
        holds: timesEach(4),
        open: () => hold({ port: gitSshPort, first: '', reads: true }),
      },
      {
        name: 'silent S3 connections',
        holds: timesEach(45),
        open: () => hold({ port: portOf(s3Url), first: '', reads: true }),
      },
      linkOpenings(target),
    ],
    greedy: [
      { name: 'calls', ask: (number) => call(...calls[number % calls.length]!) },
      { name: 'pages', ask: (number) => get(pages[number % pages.length]!) },
      {
        name: 'streams',
        async ask() {
          const { outcome, socket } = await openSocket(url, `${API}events?ticket=none`, signal);
          socket.terminate();
          return String(outcome);
        },
      },
      { name: 'raw files', ask: () => get('/code/none/README.md', { url, host: `content.localhost:${port}` }) },
      { name: 'git over HTTP', ask: () => get('/git/1/none.git/info/refs?service=git-upload-pack') },
      {
        name: 'git over SSH',
        ask: () =>
          logInBySsh(gitSshPort, unknownSshKey, signal).then(
            (client) => {
              client.destroy();
              return 'let in';
            },
            () => 'refused',
          ),
      },
      {
        name: 'objects',
        async ask() {
          const { target: path, headers } = signed(s3Url, unknownKey, { path: '/none/none' });
          const { status } = await ask({ url: s3Url, path, headers: Object.fromEntries(headers), agent, signal });
          return String(status);
        },
      },
      linkAttempts(target, signal),
    ],
  };
}
