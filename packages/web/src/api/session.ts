import type { Tokens } from '@stagi/contract/client.ts';
import { useSyncExternalStore } from 'react';

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

/**
 * One tab refreshes at a time; the others wait for it and find its tokens. Storage written in one tab is seen in
 * another a moment later than the lock is free, so the one that refreshed also says that it is done.
 */
async function exclusively<Result>(refresh: () => Promise<Result>): Promise<Result> {
  // Plain http on another host than localhost has no locks: the server lets a refresh that raced pass for 10 s.
  if (!navigator.locks) return refresh();
  const before = localStorage.getItem(ACCESS);
  const news = refreshNews();
  try {
    const first = await navigator.locks.request(LOCK, { ifAvailable: true }, async (lock) =>
      lock ? { done: await refresh().finally(news.tell) } : null,
    );
    if (first) return first.done;
    return await navigator.locks.request(LOCK, async () => {
      if (localStorage.getItem(ACCESS) === before) await news.heard();
      return refresh().finally(news.tell);
    });
  } finally {
    news.close();
  }
}

function refreshNews(): { tell(): void; heard(): Promise<void>; close(): void } {
  const channel = new BroadcastChannel(LOCK);
  const told = new Promise<void>((resolve) => {
    channel.onmessage = () => resolve();
  });
  return {
    tell: () => channel.postMessage('done'),
    heard: () => Promise.race([told, new Promise<void>((resolve) => window.setTimeout(resolve, HEAR_MS))]),
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

/** Sign-in and sign-out in another tab; called once at start. Another person there starts the app anew here. */
export function watchOtherTabs(): void {
  window.addEventListener('storage', ({ key, oldValue, newValue }) => {
    if (key === META && oldValue !== null && newValue !== null && oldValue !== newValue) window.location.assign('/');
    if (key === ACCESS || key === null) announce();
  });
}
