import type { ClientRelation, UserProfile } from '@stagi/contract/user.ts';

const META = 'userMetaData';
export type StoredWorkspace = Pick<ClientRelation, 'clientId' | 'clientName'>;

const isStored = (value: Partial<StoredWorkspace>): value is StoredWorkspace =>
  typeof value.clientId === 'number' && typeof value.clientName === 'string';
type Meta = Pick<UserProfile, 'email' | 'userId'>;
const isMeta = (value: Partial<Meta>): value is Meta =>
  typeof value.email === 'string' && typeof value.userId === 'number';

/**
 * The workspace of this tab, fixed from load to unload. Another tab may choose another one; what is pressed here must not
 * happen there.
 */
let here: { email: string; clientId: number } | null = null;

/** The workspace that this tab showed last, also before a reload: who lost it is told which. */
const SHOWN = 'shownWorkspace';
type Shown = StoredWorkspace & { userId: number };
const isShown = (value: Partial<Shown>): value is Shown => typeof value.userId === 'number' && isStored(value);

/** The workspace that a new account has joined by its invitation, until its first page. */
const JOINED = 'joinedWorkspace';

export function rememberJoinedWorkspace(clientId: number): void {
  sessionStorage.setItem(JOINED, String(clientId));
}

function takeJoinedWorkspace(): number | null {
  const stored = sessionStorage.getItem(JOINED);
  sessionStorage.removeItem(JOINED);
  return stored === null ? null : Number(stored);
}

/** The workspace that calls are made for (`X-Client-ID`); null until this browser has read a profile. */
export function activeClientId(): number | null {
  const meta = read(META, isMeta);
  return meta ? chosenBy(meta.email) : null;
}

function chosenBy(email: string): number | null {
  if (here?.email !== email) {
    const stored = read(keyOf(email), isStored);
    here = stored && { email, clientId: stored.clientId };
  }
  return here?.clientId ?? null;
}

/** Selects the stored workspace of this person, or their first one where it is gone, and stores its current name. */
export function selectWorkspace({ email, userId, clientRelations }: UserProfile): ClientRelation | null {
  const before = read(META, isMeta);
  if (before?.userId === userId && before.email !== email) carryOver(before.email, email);
  localStorage.setItem(META, JSON.stringify({ email, userId }));
  const mine = (id: number | null | undefined) => clientRelations.find(({ clientId }) => clientId === id);
  const joined = mine(takeJoinedWorkspace());
  const stored = joined ?? mine(read(keyOf(email), isStored)?.clientId);
  const active = joined ?? mine(chosenBy(email)) ?? stored ?? clientRelations[0] ?? null;
  here = active && { email, clientId: active.clientId };
  // Does not overwrite what another tab has just chosen.
  const kept = stored ?? active;
  if (kept) storeWorkspace(email, kept);
  else forgetWorkspace(email);
  if (active) {
    const { clientId, clientName } = active;
    sessionStorage.setItem(SHOWN, JSON.stringify({ userId, clientId, clientName } satisfies Shown));
  } else forgetShownWorkspace();
  return active;
}

/** The workspace that this tab, or else this browser, showed last, if the person no longer belongs to it. */
export function lostWorkspace({ email, userId, clientRelations }: UserProfile): StoredWorkspace | null {
  const shown = read(SHOWN, isShown, sessionStorage);
  const last = shown?.userId === userId ? shown : read(keyOf(email), isStored);
  return last && !clientRelations.some(({ clientId }) => clientId === last.clientId) ? last : null;
}

/** Has the next page of this tab begin in a workspace that is left. This page keeps its own until it is gone. */
export function forgetLostWorkspace(email: string, { clientId }: StoredWorkspace): void {
  if (read(keyOf(email), isStored)?.clientId === clientId) forgetWorkspace(email);
  forgetShownWorkspace();
}

export function forgetShownWorkspace(): void {
  sessionStorage.removeItem(SHOWN);
}

/** Whether another tab has chosen another workspace than this one shows. */
export function isOtherWorkspaceChosen(key: string | null): boolean {
  if (here === null || key !== keyOf(here.email)) return false;
  const stored = read(key, isStored);
  return stored !== null && stored.clientId !== here.clientId;
}

export function storeWorkspace(email: string, workspace: StoredWorkspace): void {
  const { clientId, clientName } = workspace;
  localStorage.setItem(keyOf(email), JSON.stringify({ clientId, clientName }));
}

/** A changed e-mail address keeps the chosen workspace. */
function carryOver(from: string, to: string): void {
  const stored = localStorage.getItem(keyOf(from));
  if (stored !== null) localStorage.setItem(keyOf(to), stored);
  localStorage.removeItem(keyOf(from));
  if (here?.email === from) here = { ...here, email: to };
}

export function forgetWorkspace(email: string): void {
  localStorage.removeItem(keyOf(email));
}

/** Whether two values of `userMetaData` name different people. */
export function isOtherPerson(before: string | null, now: string | null): boolean {
  return before !== null && now !== null && personOf(before) !== personOf(now);
}

function personOf(meta: string): unknown {
  try {
    return (JSON.parse(meta) as Partial<Meta> | null)?.userId;
  } catch (cause) {
    console.warn(`Ignoring what browser storage holds under ${META}`, cause);
    return undefined;
  }
}

const keyOf = (email: string) => `activeWorkspace:${email}`;

/** Validates by hand: every page needs this, and a schema library is too heavy for that. */
function read<Shape extends object>(
  key: string,
  is: (value: Partial<Shape>) => value is Shape,
  storage = localStorage,
): Shape | null {
  const raw = storage.getItem(key);
  if (raw === null) return null;
  try {
    const value: unknown = JSON.parse(raw);
    if (typeof value === 'object' && value !== null && is(value)) return value;
    throw new TypeError('not of the shape that is written here');
  } catch (cause) {
    console.warn(`Ignoring what browser storage holds under ${key}`, cause);
    storage.removeItem(key);
    return null;
  }
}
