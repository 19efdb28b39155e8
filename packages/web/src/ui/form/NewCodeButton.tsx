import { CODE_RESEND_SECONDS } from '@stagi/contract/mailedCodes.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../Button.tsx';
import { useNow } from '../clock.ts';
import { formatElapsed } from '../format.ts';
import classes from './NewCodeButton.module.css';

interface Props {
  /** Milliseconds since 1970. */
  mailedAt: number;
  loading: boolean;
  onClick(): void;
}

/** Asks for a new code, at most once a minute; counts down to the next. */
export function NewCodeButton({ mailedAt, loading, onClick }: Props) {
  const t = useT();
  const now = useNow();
  // The clock of the page ticks once a second: it may show a moment before the mail.
  const wait = Math.min(CODE_RESEND_SECONDS, Math.ceil(CODE_RESEND_SECONDS - (now - mailedAt) / 1000));
  if (wait > 0) return <p className={classes.wait}>{t('New code in {{time}}', { time: formatElapsed(wait) })}</p>;
  return (
    <Button color="gray" look="quiet" fullWidth loading={loading} onClick={onClick}>
      {t('Send a new code')}
    </Button>
  );
}
