import { UnstyledButton } from '@mantine/core';
import { useT } from '../i18n/i18n.ts';
import classes from './Logs.module.css';
import type { LogFeed } from './logFeed.ts';

/** Whether new lines are shown as they arrive: not while the view is paused. */
export function ConnectionState({ feed, following }: { feed: LogFeed; following: boolean }) {
  const t = useT();
  const connection = feed.connection();
  const state = connection === 'live' && !following ? 'paused' : connection;
  return (
    <span className={classes.connection} data-state={state} role="status" data-testid="log-connection">
      {word()}
    </span>
  );

  function word() {
    switch (state) {
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
