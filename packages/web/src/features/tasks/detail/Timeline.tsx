import type { TaskEvent } from '@stagi/contract/tasks.ts';
import { useT } from '../../../i18n/i18n.ts';
import { personName } from '../../../i18n/personName.ts';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import classes from './Detail.module.css';

/** What happened to a task, from its beginning on. */
export function Timeline({ events }: { events: readonly TaskEvent[] }) {
  const t = useT();
  const hasRuns = events.some(({ run }) => (run ?? 1) > 1);
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline" className={classes.title}>
        {t('Timeline')}
      </h2>
      <ol className={classes.timeline} data-testid="task-timeline">
        {events.map((event) => (
          <li key={`${event.at} ${event.status}`} className={classes.event}>
            <StatusBadge status={event.status} />
            <span className={classes.what}>{what(event)}</span>
            <DateTime at={event.at} format="HH:mm DD.MM.YYYY" />
          </li>
        ))}
      </ol>
    </section>
  );

  function what({ reason, run, by }: TaskEvent): string {
    return [
      hasRuns && run !== null && t('run {{number}}', { number: run }),
      reason !== null && t(reason),
      by !== null && t('by {{name}}', { name: personName(t, by) }),
    ]
      .filter(Boolean)
      .join(' · ');
  }
}
