import { type Client, createClient, isWorkspaceGone, type Send } from '@stagi/contract/apiClient.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import type { CallError, ErrorBody } from '@stagi/contract/errors.ts';
import { LOCALE } from '@stagi/contract/languages.ts';
import { currentLanguage } from '../i18n/i18n.ts';
import { apiOrigin } from './apiOrigin.ts';
import { withSchemas } from './schemas.ts';
import { session } from './session.ts';
import { activeClientId } from './workspace.ts';

/** What the app does about failed calls. Set once in main.tsx, as the client knows no screens. */
export interface FailureHandlers {
  signedOut(): void;
  forbidden(): void;
  notFound(): void;
  /** Asks for the second factor again. Resolves with whether it was given. */
  stepUp(): Promise<boolean>;
  /** Also after calls in the background, which are `quiet`. */
  workspaceGone(quiet: boolean): void;
  message(text: string, body: ErrorBody | null, retryAfter: number | null, path: string | null): void;
}

let surroundings: FailureHandlers | null = null;

export function setFailureHandlers(given: FailureHandlers): void {
  surroundings = given;
}

/** Address of something below `/frontend-api/`, for streams; `ws` for web sockets. */
export function apiUrl(path: string, protocol: 'http' | 'ws' = 'http'): string {
  const url = new URL(API_PREFIX + path, apiOrigin(window.location));
  if (protocol === 'ws') url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

/** How a call is sent. The demo, which has no server, replaces it. */
export const transport: { send: Send } = { send: sendToServer };

async function sendToServer(...[path, body, { headers, signal }]: Parameters<Send>): ReturnType<Send> {
  const response = await fetch(apiUrl(path), {
    method: 'POST',
    // The page's language, not the browser's: mails to people without a chosen language use it.
    headers: { ...headers, 'content-type': 'application/json', 'accept-language': LOCALE[currentLanguage()] },
    body: JSON.stringify(body),
    signal,
  });
  const wait = Number(response.headers.get('retry-after'));
  return {
    status: response.status,
    body: await jsonOf(response),
    retryAfter: Number.isFinite(wait) && wait > 0 ? wait : null,
  };
}

/** A proxy may answer with HTML. Such a body counts as none; the status decides. */
async function jsonOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  return type.includes('json') ? await response.json() : null;
}

/** Makes one call of the contract. Throws `CallError`; see `Client` for what it does about refusals. */
export const call: Client = createClient({
  send: (...sent) => transport.send(...sent),
  session,
  clientId: activeClientId,
  loadSchemas: withSchemas,
  on: {
    signedOut: () => surroundings?.signedOut(),
    forbidden: () => surroundings?.forbidden(),
    notFound: () => surroundings?.notFound(),
    stepUp: async () => (await surroundings?.stepUp()) ?? false,
    workspaceGone: (quiet) => surroundings?.workspaceGone(quiet),
    message: (text, body, retryAfter, path) => surroundings?.message(text, body, retryAfter, path),
  },
});

/** The same handlers for a screen's first load, which is made quietly so that its retries do not navigate. */
export function handleRefusedLoad(error: CallError): void {
  if (error.status === 403) surroundings?.forbidden();
  else if (error.status === 404 && !isWorkspaceGone(error)) surroundings?.notFound();
}
