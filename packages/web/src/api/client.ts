import { API_PREFIX } from '@stagi/contract/call.ts';
import { type Client, createClient, type Send } from '@stagi/contract/client.ts';
import type { ErrorBody } from '@stagi/contract/errors.ts';
import { LOCALE } from '@stagi/contract/languages.ts';
import { currentLanguage } from '../i18n/i18n.ts';
import { baseAddress } from './baseAddress.ts';
import { withSchemas } from './schemas.ts';
import { session } from './session.ts';
import { activeClientId } from './workspace.ts';

/** What the app does about a failed call; set once in main.tsx, since the client knows no screens. */
export interface Surroundings {
  signedOut(): void;
  forbidden(): void;
  notFound(): void;
  /** Answers whether the person has shown that it is them. */
  stepUp(): Promise<boolean>;
  workspaceGone(): void;
  message(text: string, body: ErrorBody | null, retryAfter: number | null): void;
}

let surroundings: Surroundings | null = null;

export function setSurroundings(given: Surroundings): void {
  surroundings = given;
}

/** Address of something below `/frontend-api/`, for streams; `ws` for web sockets. */
export function apiAddress(path: string, protocol: 'http' | 'ws' = 'http'): string {
  const url = new URL(API_PREFIX + path, baseAddress(window.location));
  if (protocol === 'ws') url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

const send: Send = async (path, body, { headers, signal }) => {
  const response = await fetch(apiAddress(path), {
    method: 'POST',
    // The language of the page rather than the browser's: mails to somebody who has chosen none are in it.
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
};

/** A proxy in between answers HTML: such a body counts as none, the status speaks. */
async function jsonOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  return type.includes('json') ? await response.json() : null;
}

/** Makes one call of the contract. Throws `CallError`; see `Client` for what it does about refusals. */
export const call: Client = createClient({
  send,
  session,
  clientId: activeClientId,
  whole: withSchemas,
  on: {
    signedOut: () => surroundings?.signedOut(),
    forbidden: () => surroundings?.forbidden(),
    notFound: () => surroundings?.notFound(),
    stepUp: async () => (await surroundings?.stepUp()) ?? false,
    workspaceGone: () => surroundings?.workspaceGone(),
    message: (text, body, retryAfter) => surroundings?.message(text, body, retryAfter),
  },
});

/** The same reactions for a first load that was made quietly, so that its retries do not navigate. */
export function reportRefusal(status: number, body: ErrorBody | null): void {
  if (status === 403) surroundings?.forbidden();
  else if (status === 404 && body?.fieldsWithError?.includes('X-Client-ID')) surroundings?.workspaceGone();
  else if (status === 404) surroundings?.notFound();
}
