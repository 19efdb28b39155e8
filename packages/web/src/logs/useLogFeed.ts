import type { LogSource } from '@stagi/contract/logging.ts';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { LogBounds } from './logBounds.ts';
import { type LogFeed, type LogSearch, openLogFeed } from './logFeed.ts';

/** The feed of a log for one search and time range. The previous feed stays until the next has its first lines. */
export function useLogFeed(
  source: LogSource,
  { text, mode }: LogSearch,
  { from, to }: LogBounds,
): { feed: LogFeed | null; version: number } {
  const [feed, setFeed] = useState<LogFeed | null>(null);
  const key = JSON.stringify(source);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the source, which is made anew at each drawing
  useEffect(() => {
    const next = openLogFeed(source, { text, mode }, { from, to });
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
  }, [key, text, mode, from, to]);

  const version = useSyncExternalStore(feed?.subscribe ?? nothing, feed?.version ?? zero);
  return { feed, version };
}

const nothing = () => () => undefined;
const zero = () => 0;
