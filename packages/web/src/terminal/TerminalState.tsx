import { useT } from '../i18n/i18n.ts';
import type { ConnectionState } from './connection.ts';
import classes from './Terminal.module.css';

/** How the connection with a shell stands, in a word. What one can do about it stands below the shell. */
export function TerminalState({ state }: { state: ConnectionState }) {
  const t = useT();
  return (
    <span className={classes.state} data-state={state.is} role="status" data-testid="terminal-state">
      {word()}
    </span>
  );

  function word(): string {
    switch (state.is) {
      case 'connecting':
        return t('Connecting…');
      case 'live':
        return state.resumed ? t('Connected again') : t('Connected');
      case 'lost':
        return t('Connection lost');
      case 'ended':
      case 'refused':
      case 'noAccess':
        return t('Ended');
    }
  }
}
