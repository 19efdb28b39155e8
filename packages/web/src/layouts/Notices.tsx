import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { useBalance } from './BalanceIndicator.tsx';
import classes from './Notices.module.css';

/** What concerns the whole workspace, above every page of the app. */
export function Notices() {
  const state = useUserState();
  return state.is === 'here' && state.user.workspace ? <ZeroBalance /> : null;
}

function ZeroBalance() {
  const t = useT();
  const { data } = useBalance();
  if (!data?.exhausted) return null;
  return (
    <div className={classes.notice} role="status">
      {t('You have no STAGI left. All your instances and tasks are paused.')}
    </div>
  );
}
