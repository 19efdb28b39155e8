import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { useT } from '../../i18n/i18n.ts';
import { PLAN_WORDS } from '../../i18n/planWords.ts';
import { Tag } from '../../ui/Tag.tsx';
import classes from './Admin.module.css';

/** The plan of a workspace, with a mark where an operator has set other quotas. */
export function PlanName({
  workspace: { subscriptionPlan, quotas },
}: {
  workspace: Pick<AdminClient, 'subscriptionPlan' | 'quotas'>;
}) {
  const t = useT();
  return (
    <span className={classes.inline}>
      {t(PLAN_WORDS[subscriptionPlan])}
      {Object.keys(quotas).length > 0 && <Tag>{t('Own quotas')}</Tag>}
    </span>
  );
}
