import { api } from '@stagi/contract/api.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import type { ClientRelation, UserProfile } from '@stagi/contract/user.ts';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { t } from '../i18n/i18n.ts';
import { leaveToast, toast } from '../ui/toasts.ts';
import { clearAnalyticsPerson, setAnalyticsPerson } from './analytics.ts';
import { call } from './client.ts';
import { queryClient } from './query.ts';
import { session, useSignedIn } from './session.ts';
import { activeClientId, adoptWorkspace, forgetWorkspace, storeWorkspace } from './workspace.ts';

export interface CurrentUser {
  profile: UserProfile;
  /** Null for somebody who belongs to no workspace. */
  workspace: ClientRelation | null;
  permissions: readonly Permission[];
}

const userQuery = queryOptions({
  queryKey: [api.user.profile.path, {}] as const,
  queryFn: async ({ signal }): Promise<CurrentUser> => {
    const { userProfile } = await call(api.user.profile, {}, { quiet: true, signal });
    return currentUser(userProfile);
  },
  staleTime: 60_000,
});

/** Everything that follows from a profile: the workspace it is about, and whose events these are. */
function currentUser(profile: UserProfile): CurrentUser {
  const workspace = adoptWorkspace(profile);
  setAnalyticsPerson(String(profile.userId), {
    language: profile.language,
    plan: workspace?.subscriptionPlan ?? null,
    role: workspace?.roleName ?? null,
  });
  return { profile, workspace, permissions: workspace?.permissions ?? [] };
}

/** Where the person stands: nobody, being fetched, not to be had (with a retry), or here. */
export type UserState =
  | { is: 'anonymous' }
  | { is: 'loading' }
  | { is: 'failed'; error: Error; retry(): void }
  | { is: 'here'; user: CurrentUser };

export function useUserState(): UserState {
  const signedIn = useSignedIn();
  const { data, error, isFetching, refetch } = useQuery({ ...userQuery, enabled: signedIn });
  if (!signedIn) return { is: 'anonymous' };
  if (data) return { is: 'here', user: data };
  if (error && !isFetching) return { is: 'failed', error, retry: () => void refetch() };
  return { is: 'loading' };
}

/**
 * The person as far as they are known: never asks. For what a page draws that may be read without an account, as asking
 * again there would take the page away, which would ask anew when it is back.
 */
export function useKnownUser(): CurrentUser | null {
  const signedIn = useSignedIn();
  const { data } = useQuery({ ...userQuery, enabled: false });
  return signedIn ? (data ?? null) : null;
}

/** Asks for the profile before any screen does; done when it is there or is not to be had. Nobody signed in: at once. */
export async function userAhead(): Promise<void> {
  if (session.get() !== null) await queryClient.prefetchQuery(userQuery);
}

/** Who is looking, for who asks outside of a screen; nothing is fetched. */
export function knownVisitor(): { is: 'anonymous' | 'loading' | 'here'; permissions: readonly Permission[] } {
  if (session.get() === null) return { is: 'anonymous', permissions: [] };
  const user = queryClient.getQueryData(userQuery.queryKey);
  return user ? { is: 'here', permissions: user.permissions } : { is: 'loading', permissions: [] };
}

/** The signed-in person; only below a guarded route, where there is one. */
export function useUser(): CurrentUser {
  const state = useUserState();
  if (state.is !== 'here') throw new Error('useUser is for screens behind the sign-in guard');
  return state.user;
}

/** Whether any one of these permissions is held in the current workspace. */
export function useMay(...wanted: Permission[]): boolean {
  const state = useUserState();
  return state.is === 'here' && holdsAny(state.user.permissions, wanted);
}

/** Puts an answer of `user/edit` where every screen reads the person from. */
export function takeProfile(userProfile: UserProfile): void {
  queryClient.setQueryData(userQuery.queryKey, currentUser(userProfile));
}

/** Another workspace starts the app anew at the root; the current one does nothing. */
export function switchWorkspace(user: CurrentUser, to: ClientRelation): void {
  if (to.clientId === user.workspace?.clientId) return;
  storeWorkspace(user.profile.email, to);
  window.location.assign('/');
}

/** Starts the app anew in a workspace that the person has come to belong to, with a word about it. */
export function enterWorkspace({ profile }: CurrentUser, to: ClientRelation, word?: string): void {
  storeWorkspace(profile.email, to);
  if (word) leaveToast(word);
  window.location.assign('/');
}

let leaving: Promise<void> | null = null;

/**
 * The workspace of our calls is no longer mine: takes the first that is, and starts anew at the root. Several
 * calls may meet it at once. Stays where nothing else is to be had, or it would start anew for ever.
 */
export function leaveGoneWorkspace(): Promise<void> {
  leaving ??= leave().finally(() => {
    leaving = null;
  });
  return leaving;
}

async function leave(): Promise<void> {
  const gone = activeClientId();
  const { userProfile } = await call(api.user.profile, {});
  const next = adoptWorkspace(userProfile);
  if ((next?.clientId ?? null) === gone) toast.error(t('This workspace cannot be found'));
  else window.location.assign('/');
}

/** Tells the server, then forgets the session, also when the server cannot be told; starts anew at `to`. */
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

/** Forgets an account that is no more and starts anew, with a last word. */
export function afterDeletion(email: string, word: string): void {
  forgetWorkspace(email);
  session.clear();
  clearAnalyticsPerson();
  leaveToast(word);
  window.location.assign('/');
}
