import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { WorkspaceEvent } from '@stagi/contract/events.ts';
import { useEffect, useSyncExternalStore } from 'react';
import { apiUrl, call } from './client.ts';
import { hasEvents, isAffectedBy } from './eventInvalidation.ts';
import { queryClient } from './query.ts';
import { leaveRemovedWorkspace } from './user.ts';
import { activeClientId } from './workspace.ts';

export const POLL_MS = 10_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Events within this time are batched into one refetch. */
const GATHER_MS = 150;

let live = false;
const listeners = new Set<() => void>();

/** Whether the event stream is open; otherwise the app polls. */
export function useLive(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => live,
  );
}

/** Keeps data on screen fresh by the workspace's event stream, and by polling while that is down. */
export function useWorkspaceEvents(): void {
  useEffect(() => listen(), []);
}

function listen(): () => void {
  let stopped = false;
  let source: EventSource | null = null;
  let timer: number | undefined;
  let wait = FIRST_WAIT_MS;
  const gather = gatherer();
  const poll = window.setInterval(() => {
    if (!live && document.visibilityState === 'visible') void readAgain((path) => hasEvents(path));
  }, POLL_MS);

  void connect();
  return () => {
    stopped = true;
    window.clearTimeout(timer);
    window.clearInterval(poll);
    gather.stop();
    source?.close();
    setLive(false);
  };

  async function connect(): Promise<void> {
    try {
      const { ticket } = await call(api.auth.streamTicket, {}, { quiet: true });
      if (stopped) return;
      open(ticket);
    } catch (cause) {
      console.debug('No event stream for now; polling', cause);
      if (isWorkspaceGone(cause)) leaveRemovedWorkspace().catch((error: unknown) => console.warn(error));
      again();
    }
  }

  function open(ticket: string): void {
    source = new EventSource(`${apiUrl('events')}?ticket=${encodeURIComponent(ticket)}`);
    source.onopen = () => {
      const missed = wait !== FIRST_WAIT_MS;
      wait = FIRST_WAIT_MS;
      setLive(true);
      if (missed) void readAgain((path) => hasEvents(path));
    };
    source.onmessage = ({ data }) => {
      const event = WorkspaceEvent.safeParse(parseJson(data));
      if (event.success) gather.add(event.data);
    };
    // A ticket opens one stream, so the browser's own reconnect would be refused.
    source.onerror = () => {
      source?.close();
      setLive(false);
      again();
    };
  }

  function again(): void {
    if (stopped) return;
    timer = window.setTimeout(() => void connect(), wait * (0.75 + Math.random() / 2));
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

/** The person was removed from the workspace on screen. */
function isWorkspaceGone(cause: unknown): boolean {
  return (
    cause instanceof CallError &&
    cause.status === 404 &&
    cause.body?.fieldsWithError?.includes('X-Client-ID') === true &&
    activeClientId() !== null
  );
}

function gatherer() {
  let events: WorkspaceEvent[] = [];
  let timer: number | undefined;
  return {
    add(event: WorkspaceEvent): void {
      events.push(event);
      timer ??= window.setTimeout(flush, GATHER_MS);
    },
    stop: () => window.clearTimeout(timer),
  };

  function flush(): void {
    const seen = events;
    events = [];
    timer = undefined;
    void queryClient.invalidateQueries({
      predicate: ({ queryKey }) => seen.some((event) => isAffectedBy(event, queryKey)),
    });
  }
}

function readAgain(concerns: (path: string) => boolean): Promise<void> {
  return queryClient.invalidateQueries({ predicate: ({ queryKey }) => concerns(String(queryKey[0])) });
}

function parseJson(data: unknown): unknown {
  try {
    return JSON.parse(String(data));
  } catch (cause) {
    console.warn('An event that is no JSON', cause);
    return null;
  }
}

function setLive(next: boolean): void {
  if (live === next) return;
  live = next;
  for (const listener of listeners) listener();
}
