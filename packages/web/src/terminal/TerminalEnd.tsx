import { UnstyledButton } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import type { ConnectionState } from './connection.ts';
import classes from './Terminal.module.css';

interface Props {
  state: ConnectionState;
  /** Why none can be opened now. */
  refusal: string | null;
  onRetry(): void;
  onStartAgain(): void;
}

/** Below a shell that is lost, refused or has ended: why, and what one can do. */
export function TerminalEnd({ state, refusal, onRetry, onStartAgain }: Props) {
  const t = useT();
  if (state.is === 'connecting' || state.is === 'live') return null;
  if (state.is === 'lost')
    return (
      <div className={classes.end} data-tone="warn" data-testid="terminal-end">
        <span>
          {state.reason ? t(state.reason) : t('The connection is lost. The shell goes on for two minutes.')}{' '}
          <Countdown to={state.retryAt} />
        </span>
        <UnstyledButton className={classes.now} onClick={onRetry}>
          {t('Try now')}
        </UnstyledButton>
      </div>
    );
  return (
    <div className={classes.end} role="alert" data-testid="terminal-end">
      <span>{why(state)}</span>
      {state.is !== 'noAccess' && (
        <Button
          size="xs"
          color="gray"
          reason={refusal === null ? null : t(refusal)}
          onClick={onStartAgain}
          data-testid="terminal-again"
        >
          {t('Start again')}
        </Button>
      )}
    </div>
  );

  function why(ended: Extract<ConnectionState, { is: 'ended' | 'refused' | 'noAccess' }>): string {
    if (ended.is === 'noAccess') return t('You can no longer use this terminal');
    if (ended.is === 'refused') return t(ended.message);
    const end =
      ended.code === null
        ? t('The shell has ended')
        : t('The shell has ended with exit code {{code}}', { code: ended.code });
    return ended.reason ? `${end}: ${t(ended.reason)}` : end;
  }
}

function Countdown({ to }: { to: number }) {
  const t = useT();
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  const seconds = Math.ceil((to - now) / 1000);
  return seconds > 0 ? t('Next attempt in {{seconds}} s.', { seconds }) : t('Connecting…');
}
