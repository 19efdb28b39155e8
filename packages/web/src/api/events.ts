import { EventMessage, type WorkspaceEvent } from '@stagi/contract/events.ts';
import { useEffect } from 'react';
import { hasEvents, isAffectedBy } from './eventInvalidation.ts';
import { queryClient } from './query.ts';
import { openStream } from './stream.ts';

const POLL_MS = 10_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Events within this time are batched into one refetch. */
const GATHER_MS = 150;

/** Keeps data on screen fresh by the workspace's event stream, and by polling while that is down. */
export function useWorkspaceEvents(): void {
  useEffect(() => listen(), []);
}

function listen(): () => void {
  let isLive = false;
  let hasMissed = false;
  const gather = gatherer();
  const stream = openStream('events', {
    firstWaitMs: FIRST_WAIT_MS,
    longestWaitMs: LONGEST_WAIT_MS,
    opened() {
      isLive = true;
      if (hasMissed) readAgain();
      hasMissed = false;
    },
    lost() {
      isLive = false;
      hasMissed = true;
    },
    message(message) {
      const event = EventMessage.safeParse(message);
      if (event.data?.type === 'changed') gather.add(event.data);
    },
  });
  const poll = window.setInterval(() => {
    if (!isLive && document.visibilityState === 'visible') readAgain();
  }, POLL_MS);
  return () => {
    stream.close();
    window.clearInterval(poll);
    gather.stop();
  };
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

/** Everything that events concern. */
function readAgain(): void {
  void queryClient.invalidateQueries({ predicate: ({ queryKey }) => hasEvents(String(queryKey[0])) });
}
