import type { OperatedProvider } from '@stagi/contract/providers.ts';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Admin.module.css';

export function useProviderColumns(): Column<OperatedProvider>[] {
  const t = useT();
  return [
    {
      key: 'title',
      title: t('Cloud'),
      sortBy: 'title',
      card: 'head',
      cell: ({ title, simulated }) => (
        <>
          <span className={classes.name}>{title}</span> {simulated && <Tag>{t('Simulated')}</Tag>}
        </>
      ),
    },
    {
      key: 'state',
      title: t('Status'),
      cell: ({ state, detail }) => (
        <span className={classes.row}>
          <StatusBadge status={state} />
          {detail && <span className={classes.small}>{t(detail)}</span>}
        </span>
      ),
    },
    figure('offers', t('Offers'), ({ offers }) => offers),
    figure('openInstances', t('Open servers'), ({ openInstances }) => openInstances),
    {
      key: 'strays',
      title: t('Strays'),
      sortBy: 'strays',
      align: 'right',
      cell: ({ strays }) =>
        strays === 0 ? <span className="mono">0</span> : <Link to={paths.adminStrays()}>{strays}</Link>,
    },
    {
      key: 'lastError',
      title: t('Last error'),
      cell: ({ lastError }) =>
        lastError === null ? (
          <span className="muted">—</span>
        ) : (
          <span className={classes.row}>
            <span>{lastError.message}</span>
            <span className={classes.small}>
              <TimeAgo at={lastError.at} />
            </span>
          </span>
        ),
    },
    {
      key: 'check',
      title: t('Last check'),
      cell: ({ check }) =>
        check === null ? (
          <span className="muted">—</span>
        ) : (
          <span className={classes.row}>
            <StatusBadge status={check.status} />
            <span className={classes.small}>
              <TimeAgo at={check.endedAt ?? check.askedAt} />
            </span>
          </span>
        ),
    },
  ];
}

function figure(
  key: 'offers' | 'openInstances',
  title: string,
  of: (provider: OperatedProvider) => number,
): Column<OperatedProvider> {
  return { key, title, sortBy: key, align: 'right', cell: (row) => <span className="mono">{of(row)}</span> };
}
