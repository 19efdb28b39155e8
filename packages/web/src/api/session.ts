import type { Tokens } from '@stagi/contract/client.ts';
import { useSyncExternalStore } from 'react';
import { isAnother, isChosenElsewhere } from './workspace.ts';

export type AuthType = 'email' | 'google' | 'github';

const ACCESS = 'accessToken';
const REFRESH = 'refreshToken';
const TYPE = 'authType';
const META = 'userMetaData';
/** What the command palette remembers; names of servers are nobody else's business. */
const RECENT = 'recentPlaces';

const listeners = new Set<() => void>();

/** The tokens of this browser. They change in other tabs too: every reader asks here, none keeps a copy. */
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
  begin(tokens: Tokens, type: AuthType): void {
    localStorage.setItem(TYPE, type);
    session.set(tokens);
  },
  end(): void {
    session.clear();
    announce();
  },
  /** Ends it without a word to this tab's screens, for who leaves the page at once. */
  clear(): void {
    for (const key of [ACCESS, REFRESH, TYPE, META, RECENT]) localStorage.removeItem(key);
  },
  exclusively,
};

const LOCK = 'stagi-refresh';
/** How long a tab waits to hear of what another tab's refresh stored, before it asks the server itself. */
const HEAR_MS = 2_000;
/** How long a tab that has refreshed keeps the others waiting, until they see what it stored. */
const SPREAD_MS = 300;

/**
 * One tab refreshes at a time; the others wait for it and find its tokens. Storage written in one tab is seen in
 * another a moment later, so the one that refreshed says that it is done, and gives the lock back after that moment.
 */
async function exclusively<Result>(refresh: () => Promise<Result>): Promise<Result> {
  // Plain http on another host than localhost has no locks: the server lets a refresh that raced pass for 10 s.
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

  /** Answers as soon as `work` does; null when somebody else has the lock and `ifAvailable` was asked for. */
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

/** By a channel of its own: the one that listens is closed by then. */
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

/** Sign-in and sign-out in another tab; called once at start. Another person or workspace there starts the app anew here. */
export function watchOtherTabs(): void {
  window.addEventListener('storage', ({ key, oldValue, newValue }) => {
    if ((key === META && isAnother(oldValue, newValue)) || isChosenElsewhere(key)) window.location.assign('/');
    if (key === ACCESS || key === null) announce();
  });
}
