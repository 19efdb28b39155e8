import { useEffect, useState, useSyncExternalStore } from 'react';
import type { LogBounds } from './logBounds.ts';
import { type LogFeed, type LogSearch, openLogFeed } from './logFeed.ts';

/** The log feed of a container for one search and time range. The previous feed stays until the next has its first lines. */
export function useLogFeed(
  containerId: number,
  { text, mode }: LogSearch,
  { from, to }: LogBounds,
): { feed: LogFeed | null; version: number } {
  const [feed, setFeed] = useState<LogFeed | null>(null);
  useEffect(() => {
    const next = openLogFeed(containerId, { text, mode }, { from, to });
    const show = () => {
      if (!next.ready() && !next.error()) return;
      stop();
      setFeed(next);
    };
    const stop = next.subscribe(show);
    return () => {
      stop();
      next.close();
    };
  }, [containerId, text, mode, from, to]);

  const version = useSyncExternalStore(feed?.subscribe ?? nothing, feed?.version ?? zero);
  return { feed, version };
}

const nothing = () => () => undefined;
const zero = () => 0;
