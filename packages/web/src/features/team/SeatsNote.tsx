import type { Seats } from '@stagi/contract/invites.ts';
import { useT } from '../../i18n/i18n.ts';
import { Note } from '../../ui/Note.tsx';
import classes from './Team.module.css';

/** How many of the plan's seats are taken; nothing where there are as many as one likes. */
export function SeatsNote({ seats: { plan, used, limit } }: { seats: Seats }) {
  const t = useT();
  if (limit === null) return null;
  const words = t('{{used}} of {{limit}} seats of the {{plan}} plan are taken', { used, limit, plan });
  if (used < limit)
    return (
      <p className={classes.seats} data-testid="seats">
        {words}
      </p>
    );
  return (
    <div data-testid="seats">
      <Note tone="warn" title={words}>
        {t('Nobody can join until a member is removed or the plan is a larger one.')}
      </Note>
    </div>
  );
}
