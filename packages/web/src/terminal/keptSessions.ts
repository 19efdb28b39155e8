import { Shell } from '@stagi/contract/terminals.ts';
import { z } from 'zod';
import type { Place } from './connection.ts';

const Kept = z.array(z.object({ session: z.uuid(), shell: Shell.nullable() }));
export type KeptSession = z.infer<typeof Kept>[number];

/** The shells of a place that this browser tab has open: a page that is loaded again, or come back to, resumes them. */
export function readKept(place: Place): KeptSession[] {
  try {
    const read = Kept.safeParse(JSON.parse(sessionStorage.getItem(keyOf(place)) ?? '[]'));
    return read.success ? read.data : [];
  } catch (cause) {
    console.debug('The open terminals are not known', cause);
    return [];
  }
}

export function keep(place: Place, sessions: readonly KeptSession[]): void {
  const kept = sessions.map(({ session, shell }) => ({ session, shell }));
  try {
    sessionStorage.setItem(keyOf(place), JSON.stringify(kept));
  } catch (cause) {
    console.debug('The open terminals cannot be remembered', cause);
  }
}

const keyOf = ({ type, id }: Place): string => `terminals:${type}/${id}`;
