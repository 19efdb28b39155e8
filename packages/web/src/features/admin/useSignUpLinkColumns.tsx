import type { SignUpLink } from '@stagi/contract/signUpLinks.ts';
import { useT } from '../../i18n/i18n.ts';
import { CutText } from '../../ui/CutText.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';

export function useSignUpLinkColumns(): Column<SignUpLink>[] {
  const t = useT();
  return [
    {
      key: 'note',
      title: t('Note'),
      sortBy: 'note',
      card: 'head',
      cell: ({ note }) => (note ? <CutText>{note}</CutText> : <span className="muted">—</span>),
    },
    { key: 'status', title: t('Status'), cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'used',
      title: t('Used'),
      sortBy: 'used',
      align: 'right',
      cell: ({ used, usesMax }) => <span className="mono">{t('{{used}} of {{all}}', { used, all: usesMax })}</span>,
    },
    {
      key: 'createdBy',
      title: t('Created by'),
      cell: ({ createdBy }) =>
        createdBy ? <CutText>{createdBy.name}</CutText> : <span className="muted">{t('Command line')}</span>,
    },
    { ...timeColumn('expiresAt', t('Expires')), width: 160 },
    { ...timeColumn('createdAt', t('Created')), extra: true, width: 160 },
  ];
}
