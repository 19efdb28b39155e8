import type { ClientRelation, UserProfile } from '@stagi/contract/user.ts';

const META = 'userMetaData';
type Stored = Pick<ClientRelation, 'clientId' | 'clientName'>;

const isStored = (value: Partial<Stored>): value is Stored =>
  typeof value.clientId === 'number' && typeof value.clientName === 'string';
type Meta = Pick<UserProfile, 'email' | 'userId'>;
const isMeta = (value: Partial<Meta>): value is Meta =>
  typeof value.email === 'string' && typeof value.userId === 'number';

/** The workspace that calls are made for (`X-Client-ID`); null until a profile was seen in this browser. */
export function activeClientId(): number | null {
  const meta = read(META, isMeta);
  return meta ? (read(keyOf(meta.email), isStored)?.clientId ?? null) : null;
}

/** Takes the stored workspace of this person, or their first one where it is gone; keeps its newest name. */
export function adoptWorkspace(profile: UserProfile): ClientRelation | null {
  const { email, userId } = profile;
  const before = read(META, isMeta);
  if (before?.userId === userId && before.email !== email) carryOver(before.email, email);
  localStorage.setItem(META, JSON.stringify({ email, userId }));
  const stored = read(keyOf(profile.email), isStored);
  const active =
    profile.clientRelations.find((relation) => relation.clientId === stored?.clientId) ?? profile.clientRelations[0];
  if (!active) {
    localStorage.removeItem(keyOf(profile.email));
    return null;
  }
  storeWorkspace(profile.email, active);
  return active;
}

export function storeWorkspace(email: string, workspace: Stored): void {
  const { clientId, clientName } = workspace;
  localStorage.setItem(keyOf(email), JSON.stringify({ clientId, clientName }));
}

/** Somebody's address was changed, here or elsewhere: their workspace stays the one they chose. */
function carryOver(from: string, to: string): void {
  const stored = localStorage.getItem(keyOf(from));
  if (stored !== null) localStorage.setItem(keyOf(to), stored);
  localStorage.removeItem(keyOf(from));
}

export function forgetWorkspace(email: string): void {
  localStorage.removeItem(keyOf(email));
}

/** Whether what two values of `userMetaData` name are two people. */
export function isAnother(before: string | null, now: string | null): boolean {
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

/** By hand: what every page needs is not worth a library of schemas. */
function read<Shape extends object>(key: string, is: (value: Partial<Shape>) => value is Shape): Shape | null {
  const raw = localStorage.getItem(key);
  if (raw === null) return null;
  try {
    const value: unknown = JSON.parse(raw);
    if (typeof value === 'object' && value !== null && is(value)) return value;
    throw new TypeError('not of the shape that is written here');
  } catch (cause) {
    console.warn(`Ignoring what browser storage holds under ${key}`, cause);
    localStorage.removeItem(key);
    return null;
  }
}
