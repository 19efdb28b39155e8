import { api } from '@stagi/contract/api.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { q } from '../api/query.ts';
import { useT } from '../i18n/i18n.ts';
import classes from './Notices.module.css';

const REFETCH_MS = 60_000;

/** For operators, on every page: the last ledger verification failed. */
export function LedgerAlarm() {
  const t = useT();
  const { data } = useQuery({
    ...q(api.ledger.list, { entityFilterRequest: { limit: 1 } }, { quiet: true }),
    refetchInterval: REFETCH_MS,
  });
  if (data?.lastIsSound !== false) return null;
  return (
    <div className={classes.notice} role="status" data-testid="ledger-alarm">
      <strong>{t('The ledger is inconsistent')}</strong>{' '}
      <Link className={classes.action} to={ROUTES.adminLedger.path}>
        {t('View details')}
      </Link>
    </div>
  );
}
