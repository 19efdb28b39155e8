import type { ClientRelation, UserProfile } from '@stagi/contract/user.ts';
import { z } from 'zod';

const META = 'userMetaData';
const Stored = z.object({ clientId: z.number(), clientName: z.string() });
const Meta = z.object({ email: z.string() });

/** The workspace that calls are made for (`X-Client-ID`); null until a profile was seen in this browser. */
export function activeClientId(): number | null {
  const meta = read(META, Meta);
  return meta ? (read(keyOf(meta.email), Stored)?.clientId ?? null) : null;
}

/** Takes the stored workspace of this person, or their first one where it is gone; keeps its newest name. */
export function adoptWorkspace(profile: UserProfile): ClientRelation | null {
  localStorage.setItem(META, JSON.stringify({ email: profile.email }));
  const stored = read(keyOf(profile.email), Stored);
  const active =
    profile.clientRelations.find((relation) => relation.clientId === stored?.clientId) ?? profile.clientRelations[0];
  if (!active) {
    localStorage.removeItem(keyOf(profile.email));
    return null;
  }
  storeWorkspace(profile.email, active);
  return active;
}

export function storeWorkspace(email: string, workspace: Pick<ClientRelation, 'clientId' | 'clientName'>): void {
  const { clientId, clientName } = workspace;
  localStorage.setItem(keyOf(email), JSON.stringify({ clientId, clientName }));
}

const keyOf = (email: string) => `activeWorkspace:${email}`;

function read<Shape extends z.ZodType>(key: string, shape: Shape): z.output<Shape> | null {
  const raw = localStorage.getItem(key);
  if (raw === null) return null;
  try {
    return shape.parse(JSON.parse(raw));
  } catch (cause) {
    console.warn(`Ignoring what browser storage holds under ${key}`, cause);
    localStorage.removeItem(key);
    return null;
  }
}
