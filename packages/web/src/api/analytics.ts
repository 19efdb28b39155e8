import type {
  AnalyticsEventName,
  AnalyticsProfile,
  AnalyticsProperties,
  PlainEventName,
} from '@stagi/contract/analytics.ts';
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { matchHostPattern } from '@stagi/contract/hostPattern.ts';
import { apiUrl } from './client.ts';
import { site } from './site.ts';

const FIRST_VISIT = 'hasVisited';
const VISITOR = 'analyticsVisitor';
/** The events that the server has not confirmed, by id. */
const WAITING = 'analyticsWaiting';
const TRIES = 7;
const FIRST_WAIT_MS = 1_000;

type Told = InputOf<typeof api.analytics.event>;
type EventWithProperties = Exclude<AnalyticsEventName, PlainEventName>;

let person: { identifier: string; properties: AnalyticsProfile } | null = null;

/** Sends an event to our own server. Does nothing on hosts without analytics. */
export function track(name: PlainEventName): void;
export function track<Name extends EventWithProperties>(name: Name, properties: AnalyticsProperties<Name>): void;
export function track(name: AnalyticsEventName, properties: Record<string, string | number> = {}): void {
  if (isOn()) send({ type: 'event', ...origin(), name, properties });
}

/** Once per browser. */
export function trackFirstVisit(): void {
  if (localStorage.getItem(FIRST_VISIT) !== null) return;
  track('user_first_visit', { timestamp: new Date().toISOString() });
  localStorage.setItem(FIRST_VISIT, 'visited');
}

/** Attributes events to this person from now on. Sends the profile only when it has changed. */
export function setAnalyticsPerson(identifier: string, properties: AnalyticsProfile): void {
  const next = { identifier, properties };
  if (!isOn() || JSON.stringify(next) === JSON.stringify(person)) return;
  person = next;
  send({ type: 'profile', ...origin(), properties });
}

/** Forgets the person: the next visitor gets a new id. */
export function clearAnalyticsPerson(): void {
  person = null;
  sessionStorage.removeItem(VISITOR);
}

function isOn(): boolean {
  return site().analyticsHosts.some((pattern) => matchHostPattern(pattern, window.location.host) !== null);
}

function origin() {
  return { host: window.location.host, visitor: visitor(), identifier: person?.identifier ?? null };
}

/** A random id, kept for the life of the tab. */
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

/** Sends events that the previous page of this tab had no confirmation for. */
export function sendPendingEvents(): void {
  for (const id of Object.keys(waiting())) void tell(id);
}

function send(input: Told): void {
  const id = randomWord();
  keepWaiting({ ...waiting(), [id]: input });
  void tell(id);
}

/**
 * Sends an event without the session. `keepalive` lets it finish when the page is left. A lost event is retried under the
 * same id, which the server accepts once.
 */
async function tell(id: string, tries = 1): Promise<void> {
  const input = waiting()[id];
  if (!input) return;
  try {
    const { status } = await fetch(apiUrl(api.analytics.event.path), {
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
