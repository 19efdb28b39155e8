import { api, everyCall } from '@stagi/contract/api.ts';
import { isReadOnly } from '@stagi/contract/audit.ts';
import { API_PREFIX, type Call } from '@stagi/contract/call.ts';
import type { FastifyInstance } from 'fastify';
import { GIT_PREFIX } from '../gitHosting/http.ts';
import { held } from '../http/errors.ts';
import { PICTURES } from '../pictures/profilePicture.ts';

const { auth, identities, secondFactor } = api;

/** People sign in as ever. Only step-up does not begin: it mails a code, and each call that asks for it is refused. */
const SIGN_IN: readonly Call[] = [
  auth.authentication,
  auth.exchangeRefreshToken,
  auth.logout,
  auth.streamTicket,
  identities.googleLink,
  identities.validateGoogle,
  identities.githubLink,
  identities.validateGithub,
  identities.openIdLink,
  identities.validateOpenId,
  secondFactor.verify,
  secondFactor.passkeyOptions,
  secondFactor.passkeyVerify,
  secondFactor.stepUpOptions,
  secondFactor.stepUp,
];

/** Calls that only read, and yet ask a cloud or a machine for work, or make a link that leads to bytes which nobody serves. */
const BEYOND_THE_DATABASE: readonly Call[] = [
  api.providers.check,
  api.modelEndpoints.check,
  api.modelEndpoints.run,
  api.storages.uploadLink,
  api.storages.multipartPartLinks,
  api.storages.downloadLink,
  api.sharing.previewLink,
  api.sharing.zipLink,
  api.tasks.outputLink,
  api.tasks.outputPreview,
  api.tasks.outputZip,
];

/** A held platform answers calls that only read its database, and those with which people sign in. */
export const isAnsweredWhileHeld = (call: Call): boolean =>
  SIGN_IN.includes(call) || (isReadOnly(call.path) && !BEYOND_THE_DATABASE.includes(call));

const CALLS: ReadonlySet<string> = new Set(
  everyCall()
    .filter(isAnsweredWhileHeld)
    .map(({ path }) => API_PREFIX + path),
);

/** Streams and files of the API; pages and their files are not below it. */
const STREAMS_AND_FILES: ReadonlySet<string> = new Set([
  `${API_PREFIX}events`,
  `${API_PREFIX}logging/tail`,
  `${PICTURES}:name`,
]);

const READ_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Refuses what would change something, and machines. Requests to the hosts of ports and of content do not come here:
 * they refuse in the form that their visitors expect, as git does.
 */
export function refuseWhileHeld(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ method, routeOptions: { url } }) => {
    if (!isAnswered(method, url)) throw held();
  });
}

/** By the route, not the address, which can be written in several ways. Without a route it is a page, or nothing. */
function isAnswered(method: string, route: string | undefined): boolean {
  if (route === undefined || route.startsWith(GIT_PREFIX) || CALLS.has(route)) return true;
  if (!READ_METHODS.includes(method) || route.startsWith('/daemon-api/')) return false;
  return !route.startsWith(API_PREFIX) || STREAMS_AND_FILES.has(route);
}
