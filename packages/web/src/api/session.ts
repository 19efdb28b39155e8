import type { Tokens } from '@stagi/contract/apiClient.ts';
import { useSyncExternalStore } from 'react';
import { forgetShownWorkspace, isOtherPerson, isOtherWorkspaceChosen, rememberJoinedWorkspace } from './workspace.ts';

/** `email`, also by a passkey, or the identity provider. */
export type AuthType = string;

const ACCESS = 'accessToken';
const REFRESH = 'refreshToken';
const TYPE = 'authType';
const META = 'userMetaData';
/** The command palette's recent places. They name servers, so they end with the session. */
const RECENT = 'recentPlaces';

const listeners = new Set<() => void>();

/** The tokens of this browser. Other tabs change them too, so nobody keeps a copy. */
export const session = {
  get(): Tokens | null {
    const accessToken = localStorage.getItem(ACCESS);
    const refreshToken = localStorage.getItem(REFRESH);
    return accessToken && refreshToken ? { accessToken, refreshToken } : null;
  },
  set(tokens: Tokens): void {
    localStorage.setItem(ACCESS, tokens.accessToken);
    localStorage.setItem(REFRESH, tokens.refreshToken);
    announce();
  },
  begin(tokens: Tokens & { joinedClientId?: number }, type: AuthType): void {
    localStorage.setItem(TYPE, type);
    if (tokens.joinedClientId !== undefined) rememberJoinedWorkspace(tokens.joinedClientId);
    session.set(tokens);
  },
  end(): void {
    session.clear();
    announce();
  },
  /** Ends the session without notifying this tab's screens, for code that leaves the page at once. */
  clear(): void {
    for (const key of [ACCESS, REFRESH, TYPE, META, RECENT]) localStorage.removeItem(key);
    forgetShownWorkspace();
  },
  withRefreshLock,
};

const LOCK = 'stagi-refresh';
/** How long a tab waits for the message that another tab has refreshed, before it refreshes itself. */
const HEAR_MS = 2_000;
/** How long a tab holds the lock after its refresh, until other tabs see what it stored. */
const SPREAD_MS = 300;

/**
 * A lock over all tabs: one tab refreshes at a time, the others wait and use its tokens. Storage written in one tab is
 * visible in another only a moment later, so the refreshing tab broadcasts a message and holds the lock a little longer.
 */
async function withRefreshLock<Result>(refresh: () => Promise<Result>): Promise<Result> {
  // Plain http beyond localhost has no Web Locks: the server tolerates a concurrent refresh for 10 s.
  if (!navigator.locks) return refresh();
  const before = localStorage.getItem(ACCESS);
  const news = refreshNews();
  try {
    const first = await lock({ ifAvailable: true }, async () => ({ done: await refresh() }));
    if (first) return first.done;
    return await lock({}, async () => {
      if (localStorage.getItem(ACCESS) === before) await news.heard();
      return refresh();
    });
  } finally {
    news.close();
  }

  /** Resolves with the result of `work`; with null when the lock is taken and `ifAvailable` was given. */
  function lock<Answer>(options: { ifAvailable: true }, work: () => Promise<Answer>): Promise<Answer | null>;
  function lock<Answer>(options: { ifAvailable?: undefined }, work: () => Promise<Answer>): Promise<Answer>;
  function lock<Answer>(options: LockOptions, work: () => Promise<Answer>): Promise<Answer | null> {
    return new Promise((resolve, reject) => {
      navigator.locks
        .request(LOCK, options, async (held) => {
          if (!held) {
            resolve(null);
            return;
          }
          const stored = localStorage.getItem(ACCESS);
          resolve(await work());
          if (localStorage.getItem(ACCESS) === stored) return;
          tellRefreshed();
          await pause(SPREAD_MS);
        })
        .catch(reject);
    });
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => window.setTimeout(resolve, ms));

/** On a channel of its own: the listening one may be closed by now. */
function tellRefreshed(): void {
  const channel = new BroadcastChannel(LOCK);
  channel.postMessage('done');
  channel.close();
}

function refreshNews(): { heard(): Promise<void>; close(): void } {
  const channel = new BroadcastChannel(LOCK);
  const told = new Promise<void>((resolve) => {
    channel.onmessage = () => resolve();
  });
  return {
    heard: () => Promise.race([told, pause(HEAR_MS)]),
    close: () => channel.close(),
  };
}

export function useSignedIn(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => session.get() !== null,
    () => false,
  );
}

export function onSessionChange(listener: () => void): () => void {
  return subscribe(listener);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function announce(): void {
  for (const listener of listeners) listener();
}

/** Follows sign-in and sign-out in other tabs. Another person or workspace there reloads the app here. Called once. */
export function watchOtherTabs(): void {
  window.addEventListener('storage', ({ key, oldValue, newValue }) => {
    if ((key === META && isOtherPerson(oldValue, newValue)) || isOtherWorkspaceChosen(key)) window.location.assign('/');
    if (key === ACCESS || key === null) announce();
  });
}
