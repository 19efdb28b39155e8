import { api } from '@stagi/contract/api.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import type { ClientRelation, UserProfile } from '@stagi/contract/user.ts';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { t } from '../i18n/i18n.ts';
import { loadChunk } from '../lazyChunks.ts';
import { keepToastForNextPage, toast } from '../ui/toasts.ts';
import { clearAnalyticsPerson, setAnalyticsPerson } from './analytics.ts';
import { call } from './client.ts';
import { queryClient } from './query.ts';
import { session, useSignedIn } from './session.ts';
import { forgetWorkspace, lostWorkspace, selectWorkspace, storeWorkspace } from './workspace.ts';

export interface CurrentUser {
  profile: UserProfile;
  /** Null for somebody who belongs to no workspace. */
  workspace: ClientRelation | null;
  permissions: readonly Permission[];
}

const PROFILE = [api.user.profile.path, {}] as const;

const userQuery = queryOptions({
  queryKey: PROFILE,
  queryFn: async ({ signal }): Promise<CurrentUser> => {
    const { userProfile } = await call(api.user.profile, {}, { quiet: true, signal });
    if (!(await leaveIfLost(userProfile))) return currentUser(userProfile);
    // Until the next page is there, this one stays as it is.
    return queryClient.getQueryData<CurrentUser>(PROFILE) ?? new Promise(() => {});
  },
  staleTime: 60_000,
  // A public page is shown when the profile cannot be had. Were it fetched again as that page mounts, the guard would
  // unmount the page to wait, and so on without end.
  retryOnMount: false,
});

/** Derives the user from a profile, selects their workspace and attributes analytics to them. */
function currentUser(profile: UserProfile): CurrentUser {
  const workspace = selectWorkspace(profile);
  setAnalyticsPerson(String(profile.userId), {
    language: profile.language,
    plan: workspace?.subscriptionPlan ?? null,
    role: workspace?.roleName ?? null,
  });
  return { profile, workspace, permissions: workspace?.permissions ?? [] };
}

/** The state of the session and of the profile. */
export type UserState =
  | { is: 'anonymous' }
  | { is: 'loading' }
  | { is: 'failed'; error: Error; retry(): void }
  | { is: 'signed-in'; user: CurrentUser };

export function useUserState(): UserState {
  const signedIn = useSignedIn();
  const { data, error, isFetching, refetch } = useQuery({ ...userQuery, enabled: signedIn });
  if (!signedIn) return { is: 'anonymous' };
  if (data) return { is: 'signed-in', user: data };
  if (error && !isFetching) return { is: 'failed', error, retry: () => void refetch() };
  return { is: 'loading' };
}

/** The signed-in person where there is one: for public pages. */
export function useUserIfSignedIn(): CurrentUser | null {
  const state = useUserState();
  return state.is === 'signed-in' ? state.user : null;
}

/** Fetches the profile before any screen asks for it. Resolves also when that fails, and at once without a session. */
export async function prefetchUser(): Promise<void> {
  if (session.get() !== null) await queryClient.prefetchQuery(userQuery);
}

/** The visitor from the cache, for code outside of components. */
export function cachedVisitor(): { is: 'anonymous' | 'loading' | 'signed-in'; permissions: readonly Permission[] } {
  if (session.get() === null) return { is: 'anonymous', permissions: [] };
  const user = queryClient.getQueryData(userQuery.queryKey);
  return user ? { is: 'signed-in', permissions: user.permissions } : { is: 'loading', permissions: [] };
}

/** The signed-in person; only below a guarded route, where there is one. */
export function useUser(): CurrentUser {
  const state = useUserState();
  if (state.is !== 'signed-in') throw new Error('useUser is for screens behind the sign-in guard');
  return state.user;
}

/** Whether any one of these permissions is held in the current workspace. */
export function useHasPermission(...wanted: Permission[]): boolean {
  const state = useUserState();
  return state.is === 'signed-in' && holdsAny(state.user.permissions, wanted);
}

/** Stores a changed profile in the cache that every screen reads. */
export function setProfile(userProfile: UserProfile): void {
  if (lostWorkspace(userProfile)) leaveRemovedWorkspace();
  else queryClient.setQueryData(userQuery.queryKey, currentUser(userProfile));
}

/** Reloads the app at the root in another workspace. */
export function switchWorkspace(user: CurrentUser, to: ClientRelation): void {
  if (to.clientId === user.workspace?.clientId) return;
  storeWorkspace(user.profile.email, to);
  window.location.assign('/');
}

/** Reloads the app in a workspace that the person has joined, and shows a toast there. */
export function enterWorkspace({ profile }: CurrentUser, to: ClientRelation, word?: string): void {
  storeWorkspace(profile.email, to);
  if (word) keepToastForNextPage(word);
  window.location.assign('/');
}

let isLeaving = false;

/** Whether this page is being left, as the person lost the workspace that it shows. Nothing on it may change any more. */
async function leaveIfLost(profile: UserProfile): Promise<boolean> {
  const lost = lostWorkspace(profile);
  if (lost && !isLeaving) {
    const { leaveLostWorkspace } = await loadChunk(() => import('./leaveLostWorkspace.ts'));
    isLeaving ||= leaveLostWorkspace(profile.email, lost);
  }
  return isLeaving;
}

let isLooking = false;

/**
 * Looks whether the person still belongs to the workspace of this tab, after a call or the stream said that they do not,
 * and leaves it if so. Several may find out at once. Without another workspace it does not reload, as that would never
 * end.
 */
export function leaveRemovedWorkspace({ quiet = false } = {}): void {
  const shown = queryClient.getQueryData(userQuery.queryKey);
  // Known: a notice says so on every page.
  if (isLooking || (quiet && shown?.workspace === null)) return;
  isLooking = true;
  lookForWorkspace(quiet)
    // Whatever needs the workspace next finds out again.
    .catch((cause: unknown) => console.warn('The profile cannot be read', cause))
    .finally(() => {
      isLooking = false;
    });
}

async function lookForWorkspace(quiet: boolean): Promise<void> {
  const before = queryClient.getQueryData(userQuery.queryKey);
  const { userProfile } = await call(api.user.profile, {}, { quiet: true });
  const isLost = lostWorkspace(userProfile) !== null;
  if (await leaveIfLost(userProfile)) return;
  const user = currentUser(userProfile);
  queryClient.setQueryData(userQuery.queryKey, user);
  if (isLost) return;
  if (before?.workspace === null && user.workspace) window.location.assign('/');
  else if (!quiet) toast.error(user.workspace ? t('This workspace cannot be found') : t('You are not in a workspace'));
}

/** Ends the session at the server and in the browser, also when the server cannot be reached. Reloads at `to`. */
export async function signOut(to = '/'): Promise<void> {
  const tokens = session.get();
  try {
    if (tokens) await call(api.auth.logout, { refreshToken: tokens.refreshToken }, { quiet: true });
  } catch (cause) {
    console.warn('The server could not be told of the sign-out; its session ends by itself', cause);
  }
  session.clear();
  clearAnalyticsPerson();
  window.location.assign(to);
}

/** Forgets a deleted account, reloads the app and shows a toast. */
export function finishAccountDeletion(email: string, word: string): void {
  forgetWorkspace(email);
  session.clear();
  clearAnalyticsPerson();
  keepToastForNextPage(word);
  window.location.assign('/');
}
