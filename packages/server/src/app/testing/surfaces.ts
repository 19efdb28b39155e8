import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import type { TestApp } from '../../testing/app.ts';
import { PASSWORD } from '../../testing/person.ts';

/** A request that would tell or change something; `own` is its status at a host of the listener. */
export type Surface = [method: string, path: string, body: string, own: number];

const EVE = JSON.stringify({ name: 'Eve', email: 'eve@evil.example', password: PASSWORD });
export const OUTBOX: Surface = ['POST', '/dev/mail/list', '', 200];
export const SIGN_UP: Surface = ['POST', `${API_PREFIX}auth/email/register`, EVE, 200];
export const OFFERS: Surface = ['POST', `${API_PREFIX}public-offer/list`, '{}', 200];
export const WEB: Surface[] = [
  OUTBOX,
  SIGN_UP,
  OFFERS,
  ['GET', '/configuration.json', '', 200],
  ['GET', '/dev/mail', '', 200],
  ['POST', `${API_PREFIX}user/profile`, '{}', 401],
  ['GET', '/.well-known/oauth-authorization-server', '', 200],
  ['GET', '/git/a/b.git/info/refs?service=git-upload-pack', '', 401],
];
const QUERY = `ticket=x&type=docker-container&id=1&session=00000000-0000-4000-8000-000000000000&cols=80&rows=24`;
export const STREAMS = [
  'events',
  'logging/tail',
  'docker-container/1/terminal',
  'instance-rented/1/terminal',
  'self-hosted-instance/1/terminal',
].map((path): Surface => ['WS', `${API_PREFIX}${path}?${QUERY}`, '', 401]);
export const DAEMON: Surface[] = [
  ['GET', '/daemon-api/reach', '', 204],
  ['POST', '/daemon-api/enrol', '{}', 400],
  ['POST', '/daemon-api/task/input', '{}', 401],
  ['WS', '/daemon-api/link', '', 101],
  ['WS', '/daemon-api/streams', '', 101],
];
export const S3: Surface[] = [
  ['GET', '/bucket/key', '', 403],
  ['PUT', '/bucket/key', '', 403],
  ['GET', '/', '', 403],
  ['OPTIONS', '/bucket/key', '', 400],
];
export const METRICS: Surface = ['GET', '/metrics', '', 200];

export const gets = (paths: readonly string[], own = 0): Surface[] => paths.map((path) => ['GET', path, '', own]);

/** The event stream of a new person, with a ticket that opens it once. */
export async function eventsOf(app: TestApp): Promise<Surface> {
  const person = await app.signUp();
  const { ticket } = await person.client(api.auth.streamTicket, {});
  return ['WS', `${API_PREFIX}events?ticket=${ticket}`, '', 101];
}
