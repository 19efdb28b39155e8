import { z } from 'zod';

const KEPT = 5;
const STORED = 'recentPlaces';

/** An item chosen in the palette. `to` is for servers and containers, which are not among the fixed items. */
const Recent = z.object({ id: z.string(), label: z.string(), detail: z.string(), to: z.string().nullable() });
export type Recent = z.infer<typeof Recent>;
const Stored = z.object({ clientId: z.number().nullable(), places: z.array(Recent) });

/** The last choices in this workspace, newest first. Sign-out clears them. */
export function recentPlaces(clientId: number | null): Recent[] {
  const raw = localStorage.getItem(STORED);
  if (raw === null) return [];
  try {
    const stored = Stored.parse(JSON.parse(raw));
    return stored.clientId === clientId ? stored.places : [];
  } catch (cause) {
    console.warn(`Ignoring what browser storage holds under ${STORED}`, cause);
    return [];
  }
}

export function rememberPlace(clientId: number | null, place: Recent): void {
  const others = recentPlaces(clientId).filter(({ id }) => id !== place.id);
  localStorage.setItem(STORED, JSON.stringify({ clientId, places: [place, ...others].slice(0, KEPT) }));
}
