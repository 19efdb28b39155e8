import type { Seats } from '@stagi/contract/invites.ts';
import { isFull } from '@stagi/contract/plans.ts';
import { useT } from '../../i18n/i18n.ts';
import { PLAN_WORDS } from '../../i18n/planWords.ts';
import { Note } from '../../ui/Note.tsx';
import classes from './Team.module.css';

/** How many of the plan's seats are taken; nothing where there are as many as one likes. */
export function SeatsNote({ seats }: { seats: Seats }) {
  const t = useT();
  const { plan, used, limit } = seats;
  if (limit === null) return null;
  const words = t('{{used}} of {{limit}} seats of the {{plan}} plan are taken', {
    used,
    limit,
    plan: t(PLAN_WORDS[plan]),
  });
  if (!isFull(seats))
    return (
      <p className={classes.line} data-testid="seats">
        {words}
      </p>
    );
  return (
    <div data-testid="seats">
      <Note tone="warn" title={words}>
        {t('Nobody can join until a member is removed or the plan is upgraded.')}
      </Note>
    </div>
  );
}
