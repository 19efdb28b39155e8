import type { Tokens } from '@stagi/contract/client.ts';
import { useSyncExternalStore } from 'react';

export type AuthType = 'email' | 'google' | 'github';

const ACCESS = 'accessToken';
const REFRESH = 'refreshToken';
const TYPE = 'authType';
const META = 'userMetaData';

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
    for (const key of [ACCESS, REFRESH, TYPE, META]) localStorage.removeItem(key);
  },
  /** One tab refreshes at a time; the others find its tokens when their turn comes. */
  exclusively<Result>(refresh: () => Promise<Result>): Promise<Result> {
    return navigator.locks ? navigator.locks.request('stagi-refresh', refresh) : refresh();
  },
};

export function useSignedIn(): boolean {
  return useSyncExternalStore(subscribe, () => session.get() !== null);
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
