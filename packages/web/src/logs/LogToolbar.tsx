import { ActionIcon, Switch } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { LogSource } from '@stagi/contract/logging.ts';
import {
  IconAdjustmentsHorizontal,
  IconCopy,
  IconDownload,
  IconPlayerPause,
  IconPlayerPlay,
} from '@tabler/icons-react';
import { useState } from 'react';
import { errorText } from '../api/messages.ts';
import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import { DateRangePicker } from '../ui/dateRange/DateRangePicker.tsx';
import type { DateRange } from '../ui/dateRange/resolve.ts';
import { ModeSearchBox, SearchModeSelect } from '../ui/ModeSearchBox.tsx';
import { SearchBox } from '../ui/SearchBox.tsx';
import { Tooltip } from '../ui/Tooltip.tsx';
import { toast } from '../ui/toasts.ts';
import { ConnectionState } from './ConnectionState.tsx';
import { downloadLog } from './downloadLog.ts';
import classes from './Logs.module.css';
import { lineText } from './lineText.ts';
import type { LogBounds } from './logBounds.ts';
import type { LogFeed, LogSearch } from './logFeed.ts';

interface Props {
  source: LogSource;
  fileName: string;
  ended: string | undefined;
  feed: LogFeed | null;
  search: LogSearch;
  onSearch(text: string): void;
  onMode(mode: LogSearch['mode']): void;
  /** Why the search was refused. */
  searchError: string | undefined;
  range: DateRange | null;
  onRange(range: DateRange | null): void;
  bounds: LogBounds;
  wrap: boolean;
  onWrap(wrap: boolean): void;
  timestamps: boolean;
  onTimestamps(timestamps: boolean): void;
  following: boolean;
  setFollowing(following: boolean): void;
}

/** Below this width the controls do not fit in one row. */
const NARROW = '(max-width: 75em)';

/** In one row; where it is narrow, with a button that unfolds the rest. */
export function LogToolbar(props: Props) {
  const t = useT();
  const { source, fileName, feed, search, timestamps, following } = props;
  const [downloading, setDownloading] = useState<number | null>(null);
  const [unfolded, setUnfolded] = useState(false);
  const narrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const PauseIcon = following ? IconPlayerPause : IconPlayerPlay;

  async function copy(): Promise<void> {
    const lines = (feed?.log.rows ?? []).flatMap((row) =>
      row.kind === 'line' ? [lineText(row.line, timestamps)] : [],
    );
    try {
      await navigator.clipboard.writeText(`${lines.join('\n')}\n`);
      toast.success(t('{{count}} lines copied', { count: lines.length }));
    } catch (cause) {
      console.warn('The browser refuses to copy', cause);
      toast.error(t('The browser did not allow copying'));
    }
  }

  async function download(): Promise<void> {
    setDownloading(0);
    try {
      await downloadLog(source, { fileName, search, bounds: props.bounds, timestamps, onProgress: setDownloading });
    } catch (cause) {
      console.warn('The log could not be fetched whole', cause);
      toast.error(errorText(cause));
    } finally {
      setDownloading(null);
    }
  }

  const filters = (
    <>
      <DateRangePicker label={t('When')} value={props.range} onChange={props.onRange} clearable />
      <span className={classes.switches}>
        <Switch
          withThumbIndicator={false}
          label={t('Wrap')}
          checked={props.wrap}
          onChange={(event) => props.onWrap(event.currentTarget.checked)}
          data-testid="log-wrap"
        />
        <Switch
          withThumbIndicator={false}
          label={t('Timestamps')}
          checked={timestamps}
          onChange={(event) => props.onTimestamps(event.currentTarget.checked)}
          data-testid="log-timestamps"
        />
      </span>
    </>
  );
  const exports = (
    <>
      <Tooltip label={t('Copy loaded lines')}>
        <ActionIcon size={36} variant="default" aria-label={t('Copy loaded lines')} onClick={() => void copy()}>
          <IconCopy size={16} />
        </ActionIcon>
      </Tooltip>
      <Tooltip
        label={downloading === null ? t('Download the whole log') : t('{{count}} lines', { count: downloading })}
      >
        <ActionIcon
          size={36}
          variant="default"
          aria-label={t('Download the whole log')}
          loading={downloading !== null}
          onClick={() => void download()}
          data-testid="log-download"
        >
          <IconDownload size={16} />
        </ActionIcon>
      </Tooltip>
    </>
  );
  const searchBox = { value: search.text, onChange: props.onSearch, error: props.searchError };
  const state = feed && <ConnectionState feed={feed} following={following} ended={props.ended} />;

  if (narrow) {
    return (
      <div className={classes.toolbar}>
        <div className={classes.bar}>
          <div className={classes.search}>
            <SearchBox label={t('Search lines')} placeholder={t('Search')} width="100%" {...searchBox} />
          </div>
          <Tooltip label={following ? t('Pause') : t('Follow')}>
            <ActionIcon
              size={36}
              variant="default"
              aria-label={following ? t('Pause') : t('Follow')}
              onClick={() => props.setFollowing(!following)}
              data-testid="log-pause"
            >
              <PauseIcon size={16} />
            </ActionIcon>
          </Tooltip>
          <Tooltip label={t('Filters')}>
            <ActionIcon
              size={36}
              variant="default"
              aria-label={t('Filters')}
              aria-expanded={unfolded}
              onClick={() => setUnfolded(!unfolded)}
              data-testid="log-filters"
            >
              <IconAdjustmentsHorizontal size={16} />
            </ActionIcon>
          </Tooltip>
          {state}
        </div>
        {unfolded && (
          <div className={classes.unfolded}>
            <SearchModeSelect mode={search.mode} onMode={props.onMode} />
            {filters}
            <span className={classes.barEnd}>{exports}</span>
          </div>
        )}
      </div>
    );
  }
  return (
    <div className={classes.toolbar}>
      <div className={classes.bar}>
        <ModeSearchBox mode={search.mode} onMode={props.onMode} {...searchBox} />
        <Button
          color="gray"
          icon={<PauseIcon size={16} />}
          onClick={() => props.setFollowing(!following)}
          data-testid="log-pause"
        >
          {following ? t('Pause') : t('Follow')}
        </Button>
        {filters}
        <span className={classes.barEnd}>
          {state}
          {exports}
        </span>
      </div>
    </div>
  );
}
