import { UnstyledButton } from '@mantine/core';
import { useT } from '../i18n/i18n.ts';
import classes from './Logs.module.css';
import type { LogFeed } from './logFeed.ts';

interface Props {
  feed: LogFeed;
  following: boolean;
  /** Said in place of “Live” once no more lines are expected. */
  ended: string | undefined;
}

/** Whether new lines are shown as they arrive: not while the view is paused, nor once none are expected. */
export function ConnectionState({ feed, following, ended }: Props) {
  const t = useT();
  const connection = feed.connection();
  const live = following ? 'live' : 'paused';
  const state = connection === 'live' ? (ended === undefined ? live : 'over') : connection;
  return (
    <span className={classes.connection} data-state={state} role="status" data-testid="log-connection">
      {word()}
    </span>
  );

  function word() {
    switch (state) {
      case 'over':
        return ended;
      case 'live':
        return t('Live');
      case 'paused':
        return t('Paused');
      case 'loading':
        return t('Connecting…');
      case 'reconnecting':
        return (
          <>
            {t('Reconnecting…')}{' '}
            <UnstyledButton className={classes.now} onClick={feed.retry}>
              {t('now')}
            </UnstyledButton>
          </>
        );
      case 'past':
        return t('Not live: the selected period has ended');
      case 'ended':
        return t('You can no longer read this log');
    }
  }
}
