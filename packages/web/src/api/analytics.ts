import type {
  AnalyticsEventName,
  AnalyticsProfile,
  AnalyticsProperties,
  PlainEventName,
} from '@stagi/contract/analytics.ts';
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { matchHost } from '@stagi/contract/hosts.ts';
import { apiAddress } from './client.ts';
import { site } from './site.ts';

const FIRST_VISIT = 'hasVisited';
const VISITOR = 'analyticsVisitor';
/** What the server has not answered yet, by its id. */
const WAITING = 'analyticsWaiting';
const TRIES = 7;
const FIRST_WAIT_MS = 1_000;

type Told = InputOf<typeof api.analytics.event>;
type EventWithProperties = Exclude<AnalyticsEventName, PlainEventName>;

let person: { identifier: string; properties: AnalyticsProfile } | null = null;

/** Tells our own server of something that was done; does nothing on hosts without analytics. */
export function track(name: PlainEventName): void;
export function track<Name extends EventWithProperties>(name: Name, properties: AnalyticsProperties<Name>): void;
export function track(name: AnalyticsEventName, properties: Record<string, string | number> = {}): void {
  if (isOn()) send({ type: 'event', ...origin(), name, properties });
}

/** Once in a browser's life. */
export function trackFirstVisit(): void {
  if (localStorage.getItem(FIRST_VISIT) !== null) return;
  track('user_first_visit', { timestamp: new Date().toISOString() });
  localStorage.setItem(FIRST_VISIT, 'visited');
}

/** Events are this person's from now on. Told once until something of it changes. */
export function setAnalyticsPerson(identifier: string, properties: AnalyticsProfile): void {
  const next = { identifier, properties };
  if (!isOn() || JSON.stringify(next) === JSON.stringify(person)) return;
  person = next;
  send({ type: 'profile', ...origin(), properties });
}

/** Whoever comes next is somebody else. */
export function clearAnalyticsPerson(): void {
  person = null;
  sessionStorage.removeItem(VISITOR);
}

function isOn(): boolean {
  return site().analyticsHosts.some((pattern) => matchHost(pattern, window.location.host) !== null);
}

function origin() {
  return { host: window.location.host, visitor: visitor(), identifier: person?.identifier ?? null };
}

/** Random, and gone with the tab. */
function visitor(): string {
  const known = sessionStorage.getItem(VISITOR);
  if (known) return known;
  const made = randomWord();
  sessionStorage.setItem(VISITOR, made);
  return made;
}

function randomWord(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Also what a page that was left had no answer for. */
export function tellWaiting(): void {
  for (const id of Object.keys(waiting())) void tell(id);
}

function send(input: Told): void {
  const id = randomWord();
  keepWaiting({ ...waiting(), [id]: input });
  void tell(id);
}

/**
 * Without the session, and to its end even when the page is left. Nobody waits for it; what the network or a busy server
 * lost is told again, under the same id, by which the server takes it once.
 */
async function tell(id: string, tries = 1): Promise<void> {
  const input = waiting()[id];
  if (!input) return;
  try {
    const { status } = await fetch(apiAddress(api.analytics.event.path), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...input, id }),
      keepalive: true,
      credentials: 'omit',
    });
    if (status === 429 || status >= 500) throw new Error(`HTTP ${status}`);
    answered(id);
  } catch (cause) {
    if (tries < TRIES) {
      window.setTimeout(() => void tell(id, tries + 1), FIRST_WAIT_MS * 2 ** (tries - 1));
      return;
    }
    console.debug('An analytics event was lost', cause);
    answered(id);
  }
}

function answered(id: string): void {
  const { [id]: _, ...others } = waiting();
  keepWaiting(others);
}

function waiting(): Record<string, Told> {
  return JSON.parse(sessionStorage.getItem(WAITING) ?? '{}');
}

function keepWaiting(events: Record<string, Told>): void {
  if (Object.keys(events).length === 0) sessionStorage.removeItem(WAITING);
  else sessionStorage.setItem(WAITING, JSON.stringify(events));
}
