import type { ClientRelation, UserProfile } from '@stagi/contract/user.ts';

const META = 'userMetaData';
type Stored = Pick<ClientRelation, 'clientId' | 'clientName'>;

const isStored = (value: Partial<Stored>): value is Stored =>
  typeof value.clientId === 'number' && typeof value.clientName === 'string';
const isMeta = (value: { email?: string }): value is { email: string } => typeof value.email === 'string';

/** The workspace that calls are made for (`X-Client-ID`); null until a profile was seen in this browser. */
export function activeClientId(): number | null {
  const meta = read(META, isMeta);
  return meta ? (read(keyOf(meta.email), isStored)?.clientId ?? null) : null;
}

/** Takes the stored workspace of this person, or their first one where it is gone; keeps its newest name. */
export function adoptWorkspace(profile: UserProfile): ClientRelation | null {
  localStorage.setItem(META, JSON.stringify({ email: profile.email }));
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
