import type { Stray } from '@stagi/contract/strays.ts';
import { text } from '@stagi/contract/text.ts';
import { type T, useT } from '../../i18n/i18n.ts';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime, TimeAgo } from '../../ui/Time.tsx';
import { Tooltip } from '../../ui/Tooltip.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Admin.module.css';

export const STRAY_REASONS: Record<Stray['reason'], { word: string; detail: string }> = {
  closed: { word: text('Server closed'), detail: text('The server it was created for is closed.') },
  unknown: { word: text('Unknown'), detail: text('It matches no server.') },
  second: { word: text('Duplicate machine'), detail: text('Its server has another machine.') },
};

export function useStrayColumns(): Column<Stray>[] {
  const t = useT();
  return [
    {
      key: 'name',
      title: t('Machine'),
      sortBy: 'name',
      card: 'head',
      cell: ({ name, ref }) => (
        <span className={classes.row}>
          <span className="mono">{name}</span>
          {ref !== name && <span className={`${classes.small} mono`}>{ref}</span>}
        </span>
      ),
    },
    { key: 'provider', title: t('Cloud'), sortBy: 'provider', cell: ({ providerTitle }) => t(providerTitle) },
    {
      key: 'reason',
      title: t('Reason'),
      cell: ({ reason, instanceId }) => (
        <>
          <Tooltip label={t(STRAY_REASONS[reason].detail)}>
            <span>
              <Tag>{t(STRAY_REASONS[reason].word)}</Tag>
            </span>
          </Tooltip>{' '}
          {instanceId !== null && <span className={`${classes.small} mono`}>#{instanceId}</span>}
        </>
      ),
    },
    { key: 'state', title: t('Cloud state'), cell: ({ state }) => <span className="mono">{state}</span> },
    { key: 'ip', title: t('IP'), extra: true, cell: ({ ip }) => <span className="mono">{ip ?? '—'}</span> },
    {
      key: 'tags',
      title: t('Tags'),
      extra: true,
      cell: ({ tags }) => (
        <span className={`${classes.small} mono`}>
          {Object.entries(tags)
            .map(([name, value]) => `${name}=${value}`)
            .join(' ')}
        </span>
      ),
    },
    { key: 'next', title: t('Status'), cell: (stray) => <Next stray={stray} t={t} /> },
    timeColumn('firstSeenAt', t('First seen')),
    {
      key: 'lastSeenAt',
      title: t('Last seen'),
      align: 'right',
      cell: ({ lastSeenAt }) => <TimeAgo at={lastSeenAt} />,
    },
  ];
}

function Next({ stray: { decision, deletedFrom, deletions, lastError }, t }: { stray: Stray; t: T }) {
  if (decision === 'adopt') return t('Adopted');
  if (deletedFrom === null) return <span>{t('Needs a decision')}</span>;
  return (
    <span className={classes.row}>
      {decision === 'delete' || deletions > 0 ? (
        <span>{t('Deleting')}</span>
      ) : (
        <span>
          {t('Will be deleted')} <DateTime at={deletedFrom} />
        </span>
      )}
      {deletions > 0 && <span className={classes.small}>{t('{{count}} tries', { count: deletions })}</span>}
      {lastError && <span className={classes.small}>{lastError}</span>}
    </span>
  );
}
