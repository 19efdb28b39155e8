import { useT } from '../i18n/i18n.ts';
import { formatDate, formatHours } from '../ui/format.ts';
import classes from './BalanceDuration.module.css';

interface Props {
  /** Null: nothing is spent. */
  hours: number | null;
  /** When the balance was read, in milliseconds. */
  readAt: number;
}

/** How long a balance lasts, and until when. */
export function BalanceDuration({ hours, readAt }: Props) {
  const t = useT();
  if (hours === null)
    return (
      <span>
        {formatHours(hours)} · <span className="muted">{t('nothing is spent')}</span>
      </span>
    );
  return (
    <span>
      <span className="mono">{formatHours(hours)}</span>
      {hours > 0 && hours < YEAR_HOURS && (
        <>
          {' · '}
          {t('until')} <span className={`mono ${classes.when}`}>{formatDate(balanceEndsAt(readAt, hours))}</span>
        </>
      )}
    </span>
  );
}

/** Dates beyond it would only seem to be known. */
const YEAR_HOURS = 24 * 365;

export const balanceEndsAt = (readAt: number, hours: number): Date => new Date(readAt + hours * 3_600_000);
