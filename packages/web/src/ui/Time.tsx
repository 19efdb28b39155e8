import { useT } from '../i18n/i18n.ts';
import { useNow } from './clock.ts';
import { type DateFormat, exactTime, formatDate, formatElapsed } from './format.ts';
import { Tooltip } from './Tooltip.tsx';

/** A moment in one of the product's formats, to the second on hover. */
export function DateTime({ at, format }: { at: string; format?: DateFormat }) {
  return (
    <Tooltip label={exactTime(at)}>
      <time dateTime={at} className="mono">
        {formatDate(at, format, document.documentElement.lang)}
      </time>
    </Tooltip>
  );
}

/**
 * The time that a status has lasted: `Running for 28 s`, after a day `Running since` with the date. Moves by itself. What came to
 * pass at a moment, as `Done`, does not last: it is always `since`.
 */
export function Lasting({ what, since, isMoment }: { what: string; since: string; isMoment: boolean }) {
  const t = useT();
  const seconds = Math.max(0, Math.floor((useNow() - new Date(since).getTime()) / 1000));
  if (isMoment || seconds >= 86_400) {
    return (
      <>
        {t('{{status}} since', { status: what })} <DateTime at={since} />
      </>
    );
  }
  return (
    <Tooltip label={exactTime(since)}>
      <time dateTime={since}>{lasting()}</time>
    </Tooltip>
  );

  function lasting(): string {
    if (seconds < 60) return t('{{status}} for {{seconds}} s', { status: what, seconds });
    if (seconds < 3600) return t('{{status}} for {{minutes}} min', { status: what, minutes: Math.floor(seconds / 60) });
    return t('{{status}} for {{hours}} h', { status: what, hours: Math.floor(seconds / 3600) });
  }
}

/** How long ago, up to a day; older moments as a date. Moves by itself. */
export function TimeAgo({ at }: { at: string }) {
  const t = useT();
  const seconds = Math.max(0, Math.floor((useNow() - new Date(at).getTime()) / 1000));
  if (seconds >= 86_400) return <DateTime at={at} />;
  return (
    <Tooltip label={exactTime(at)}>
      <time dateTime={at}>{ago()}</time>
    </Tooltip>
  );

  function ago(): string {
    if (seconds < 60) return t('{{seconds}} s ago', { seconds });
    if (seconds < 3600) return t('{{minutes}} min ago', { minutes: Math.floor(seconds / 60) });
    return t('{{hours}} h ago', { hours: Math.floor(seconds / 3600) });
  }
}

/** Time since a moment, as a running clock. */
export function Elapsed({ since }: { since: string }) {
  const seconds = (useNow() - new Date(since).getTime()) / 1000;
  return (
    <time className="mono" dateTime={since}>
      {formatElapsed(seconds)}
    </time>
  );
}

/**
 * The time until a moment, as a running clock. Not for screen readers, whose notice would change each second. `bare`: after
 * a word such as "within", without one of its own.
 */
export function Countdown({ to, bare = false }: { to: string; bare?: boolean }) {
  const t = useT();
  const seconds = Math.max(0, (new Date(to).getTime() - useNow()) / 1000);
  return (
    <span className="muted" aria-hidden="true">
      {bare ? formatElapsed(seconds) : t('in {{duration}}', { duration: formatElapsed(seconds) })}
    </span>
  );
}

/** What happens now, since when, and when it times out. */
export function Deadline({ since, deadline }: { since: string; deadline: string | null }) {
  const t = useT();
  const now = useNow();
  const left = deadline === null ? null : (new Date(deadline).getTime() - now) / 1000;
  return (
    <span className="muted">
      {t('for')} <Elapsed since={since} />
      {left !== null && left > 0 && (
        <>
          {' · '}
          {t('times out in')} <span className="mono">{formatElapsed(left)}</span>
        </>
      )}
      {left !== null && left <= 0 && ` · ${t('overdue')}`}
    </span>
  );
}
