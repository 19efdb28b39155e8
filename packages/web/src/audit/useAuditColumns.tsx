import type { AuditEntry } from '@stagi/contract/audit.ts';
import { Link } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { personName } from '../i18n/personName.ts';
import { CutText } from '../ui/CutText.tsx';
import { Tag } from '../ui/Tag.tsx';
import { DateTime } from '../ui/Time.tsx';
import type { Column } from '../ui/table/tableTypes.ts';
import classes from './Audit.module.css';
import { AuditDetail } from './AuditDetail.tsx';
import { ACTIONS, OUTCOMES } from './auditWords.ts';

/** `pages`: where the things of the log have pages that the reader may open. */
export function useAuditColumns(pages: ThingPages): Column<AuditEntry>[] {
  const t = useT();
  return [
    {
      key: 'what',
      title: t('What'),
      card: 'head',
      cell: ({ action, outcome }) => (
        <>
          {ACTIONS[action] ? t(ACTIONS[action]) : <span className="mono">{action}</span>}{' '}
          {outcome !== 'done' && <Tag>{t(OUTCOMES[outcome])}</Tag>}
        </>
      ),
    },
    { key: 'object', title: t('About'), cell: ({ object }) => <Thing object={object} pages={pages} /> },
    {
      key: 'detail',
      title: t('Details'),
      cell: ({ detail, object }) => <AuditDetail detail={detail} object={object} />,
    },
    { key: 'who', title: t('Who'), width: 200, cell: (entry) => <ActorCell entry={entry} /> },
    { key: 'ip', title: t('Address'), cell: ({ ip }) => <span className="mono">{ip ?? '—'}</span> },
    { key: 'userAgent', title: t('Browser'), extra: true, cell: ({ userAgent }) => userAgent ?? '—' },
    {
      key: 'hash',
      title: t('Entry and its hash'),
      extra: true,
      cell: ({ id, hash }) => (
        <span className="mono">
          {id} · {hash.slice(0, 12)}
        </span>
      ),
    },
    { key: 'when', title: t('When'), sortBy: 'at', align: 'right', width: 160, cell: ({ at }) => <DateTime at={at} /> },
  ];
}

export type ThingPages = Partial<Record<string, (id: number) => string>>;

function Thing({ object, pages }: Pick<AuditEntry, 'object'> & { pages: ThingPages }) {
  const t = useT();
  if (!object) return <span className="muted">—</span>;
  const { type, id, label } = object;
  // A join link has no name but the role that it gives.
  if (type === 'client/invite' && label) return t(label);
  // Without a name it was not theirs to name.
  if (label === null) return <span className="mono">{id === null ? '—' : `#${id}`}</span>;
  const page = pages[type];
  if (!page || id === null) return <CutText className="mono">{label}</CutText>;
  return (
    <Link className="mono" to={page(Number(id))}>
      <CutText>{label}</CutText>
    </Link>
  );
}

function ActorCell({ entry: { actor, by, action } }: { entry: AuditEntry }) {
  const t = useT();
  // A workspace learns that it was an operator, not who.
  if (!actor)
    return <span className="muted">{action.startsWith('admin/') ? t('An operator') : t('The platform')}</span>;
  return (
    <>
      <span className={classes.who}>
        <CutText>{personName(t, actor.name)}</CutText>
        <span className={classes.email}>{actor.email}</span>
      </span>{' '}
      {by === 'token' && <Tag>{t('API token')}</Tag>}
    </>
  );
}
