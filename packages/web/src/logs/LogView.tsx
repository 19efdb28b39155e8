import { Skeleton } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { CallError } from '@stagi/contract/errors.ts';
import { type LogSource, SearchMode } from '@stagi/contract/logging.ts';
import { useMemo, useState } from 'react';
import { errorText } from '../api/messages.ts';
import { useLogSeen } from '../gettingStarted/useLogSeen.ts';
import { useT } from '../i18n/i18n.ts';
import { useListState } from '../lists/useListState.ts';
import { RANGE_FILTER, useRange } from '../lists/useRange.ts';
import ansi from '../ui/ansiColours.module.css';
import { browserTimeZone } from '../ui/dateRange/rangeLabels.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorState } from '../ui/ErrorState.tsx';
import { NoMatches } from '../ui/table/NoMatches.tsx';
import { LogLines } from './LogLines.tsx';
import classes from './Logs.module.css';
import { LogToolbar } from './LogToolbar.tsx';
import { logBounds } from './logBounds.ts';
import { useLogFeed } from './useLogFeed.ts';

const MODE = 'mode';

interface Props {
  source: LogSource;
  /** The name of a downloaded file, without its end. */
  fileName: string;
  /** What stands in place of the lines while there are none: when the first will come. */
  noLines: string;
  /** Said in place of “Live” once no more lines are expected. */
  ended?: string;
}

/** A log: history, then live lines. Search and dates stand in the address. */
export function LogView({ source, fileName, noLines, ended }: Props) {
  const t = useT();
  const list = useListState({ filters: [RANGE_FILTER, MODE] });
  const mode = SearchMode.catch('contains').parse(list.filter(MODE));
  const search = { text: list.search, mode };
  const range = useRange(list);
  const chosen = list.filter(RANGE_FILTER);
  // Bounds as of the moment of choosing: a live log is not reloaded each minute.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text of the address stands for the value
  const bounds = useMemo(() => logBounds(range.value, new Date(), browserTimeZone()), [chosen]);
  const [wrap, setWrap] = useLocalStorage({ key: 'logWrap', defaultValue: false, getInitialValueInEffect: false });
  const [timestamps, setTimestamps] = useLocalStorage({
    key: 'logTimestamps',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const [following, setFollowing] = useState(true);
  const { feed, version } = useLogFeed(source, search, bounds);
  useLogSeen((feed?.log.rows.length ?? 0) > 0);
  const error = feed?.error() ?? null;
  const refused = error instanceof CallError && error.status === 400 ? errorText(error) : undefined;

  return (
    <section className={`${classes.logs} ${ansi.colours}`} aria-label={t('Logs')} data-fills-window>
      <LogToolbar
        source={source}
        fileName={fileName}
        ended={ended}
        feed={feed}
        search={search}
        onSearch={list.setSearch}
        onMode={(next) => list.setFilter(MODE, next === 'contains' ? '' : next)}
        searchError={refused}
        range={range.value}
        onRange={range.set}
        bounds={bounds}
        wrap={wrap}
        onWrap={setWrap}
        timestamps={timestamps}
        onTimestamps={setTimestamps}
        following={following}
        setFollowing={setFollowing}
      />
      {body()}
    </section>
  );

  function body() {
    if (!feed) return <Skeleton className={classes.frame} />;
    if (feed.log.rows.length > 0) {
      return (
        <LogLines
          feed={feed}
          version={version}
          search={mode === 'contains' ? search.text : ''}
          wrap={wrap}
          timestamps={timestamps}
          following={following}
          setFollowing={setFollowing}
        />
      );
    }
    return (
      <div className={classes.frame} data-testid="log-lines">
        {refused ? (
          <EmptyState title={t('Nothing to show')}>{t('Change the search.')}</EmptyState>
        ) : error ? (
          <ErrorState message={errorText(error)} onRetry={feed.retry} />
        ) : range.value ? (
          <NoMatches title={t('No lines in this period')} onClear={list.clear} />
        ) : search.text !== '' ? (
          <EmptyState title={nothingFound()}>{t('New matching lines appear here as they are printed.')}</EmptyState>
        ) : (
          <EmptyState title={t('No output yet')}>{noLines}</EmptyState>
        )}
      </div>
    );
  }

  function nothingFound(): string {
    return mode === 'contains'
      ? t('No line contains “{{text}}”', { text: search.text })
      : t('No line matches “{{text}}”', { text: search.text });
  }
}
