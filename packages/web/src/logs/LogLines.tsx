import { IconArrowDown } from '@tabler/icons-react';
import { type Range, useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import { LogRowView } from './LogRowView.tsx';
import classes from './Logs.module.css';
import type { LogFeed } from './logFeed.ts';
import { useFollowByScrolling, useStickToEnd } from './useFollow.ts';

interface Props {
  feed: LogFeed;
  /** Grows with everything that the feed shows. */
  version: number;
  search: string;
  wrap: boolean;
  timestamps: boolean;
  following: boolean;
  setFollowing(following: boolean): void;
}

const ROW_PX = 20;
const OVERSCAN = 30;
/** Rows from the beginning at which older lines are fetched. */
const NEAR_BEGINNING = 60;

/** The lines of a log. Only the visible ones are in the DOM. */
export function LogLines({ feed, version, search, wrap, timestamps, following, setFollowing }: Props) {
  const t = useT();
  const list = useRef<HTMLDivElement>(null);
  const { rows } = feed.log;
  const [pausedAt, setPausedAt] = useState(0);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => list.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: OVERSCAN,
    anchorTo: 'end',
    rangeExtractor: following ? untilEnd : around,
  });
  const height = virtualizer.getTotalSize();
  useFollowByScrolling(list, setFollowing);
  useStickToEnd(list, following, `${version} ${height} ${virtualizer.scrollRect?.height}`);

  useEffect(() => {
    feed.setFollowing(following);
    setPausedAt(feed.received());
  }, [feed, following]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another width have other heights
  useEffect(() => virtualizer.measure(), [wrap, timestamps]);

  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const unloadedInSight = items.map(({ index }) => rows[index]).find((row) => row?.kind === 'unloaded');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version`, since the same place may need the next page
  useEffect(() => {
    if (following) return;
    if (first < NEAR_BEGINNING) feed.loadOlder();
    else if (unloadedInSight?.kind === 'unloaded') feed.loadRange(unloadedInSight);
  }, [feed, first, following, unloadedInSight, version]);

  const news = following ? 0 : feed.received() - pausedAt;
  return (
    <div className={classes.frame}>
      <div
        ref={list}
        className={classes.list}
        data-testid="log-lines"
        data-following={following}
        data-wrap={wrap || undefined}
        role="log"
        aria-live="off"
        aria-label={t('Log lines')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <div className={classes.sizer} style={{ height }}>
          {items.map(({ index, start, key }) => {
            const row = rows[index];
            return (
              row && (
                <LogRowView
                  key={key}
                  index={index}
                  row={row}
                  start={start}
                  measure={wrap || row.kind !== 'line' ? virtualizer.measureElement : undefined}
                  search={search}
                  timestamps={timestamps}
                />
              )
            );
          })}
        </div>
      </div>
      {!following && (
        <Button
          className={classes.follow}
          size="xs"
          icon={<IconArrowDown size={14} />}
          onClick={() => setFollowing(true)}
          data-testid="log-follow"
        >
          {news > 0 ? t('{{count}} new lines — follow', { count: news }) : t('Follow')}
        </Button>
      )}
    </div>
  );
}

/** Renders new rows in the same frame that scrolls to them. */
function untilEnd({ startIndex, endIndex, count }: Range): number[] {
  const inSight = endIndex - startIndex + 1;
  return indexes(Math.max(0, count - inSight - OVERSCAN), count - 1);
}

function around({ startIndex, endIndex, overscan, count }: Range): number[] {
  return indexes(Math.max(0, startIndex - overscan), Math.min(count - 1, endIndex + overscan));
}

function indexes(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, step) => from + step);
}
