import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { formatNumber } from '../../ui/format.ts';
import { Note } from '../../ui/Note.tsx';
import classes from './Projects.module.css';

/** The number of projects and the limit of the plan; nothing where there is none. */
export function PlanProjects() {
  const t = useT();
  const { data } = useQuery(q(api.projects.form, {}, { quiet: true }));
  if (!data || data.projects.limit === null) return null;
  const { used, limit } = data.projects;
  return (
    <div className={classes.use} data-testid="plan-projects">
      <span>{t('Projects of the plan')}</span>
      <span className="mono">
        {t('{{used}} of {{max}}', { used: formatNumber(used, 0), max: formatNumber(limit, 0) })}
      </span>
      {used >= limit && (
        <Note tone="warn" title={t('Your plan is full')}>
          {t('Your plan allows {{limit}} projects. Delete one or upgrade.', { limit: formatNumber(limit, 0) })}
        </Note>
      )}
    </div>
  );
}
