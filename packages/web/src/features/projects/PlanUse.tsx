import { Progress } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { formatNumber } from '../../ui/format.ts';
import { Note } from '../../ui/Note.tsx';
import classes from './Projects.module.css';

/** From here on the bar warns. */
const NEARLY_FULL = 0.9;

/** How much of the plan repositories and storages take together; nothing where the plan has no limit. */
export function PlanUse() {
  const t = useT();
  const { data } = useQuery(q(api.projects.form, {}, { quiet: true }));
  if (!data || data.planGb === null) return null;
  const part = data.planGb === 0 ? 1 : data.usedGb / data.planGb;
  const used = t('{{used}} of {{total}} GB', {
    used: formatNumber(data.usedGb, 2),
    total: formatNumber(data.planGb, 0),
  });
  return (
    <div className={classes.use} data-testid="plan-use">
      <span>{t('Plan, with storages')}</span>
      <span className="mono">{used}</span>
      <Progress
        size="sm"
        value={Math.min(100, Math.round(part * 1_000) / 10)}
        color={part >= NEARLY_FULL ? 'red' : undefined}
        aria-label={used}
      />
      {part >= 1 && (
        <Note tone="warn" title={t('Your plan is full')}>
          {t('Nothing can be pushed until something is deleted.')}
        </Note>
      )}
    </div>
  );
}
