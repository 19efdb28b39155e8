import type { Invite } from '@stagi/contract/invites.ts';
import { useT } from '../../i18n/i18n.ts';
import { ROLE_WORDS } from '../../i18n/roleWords.ts';
import { text } from '../../i18n/text.ts';
import type { Column } from '../../ui/DataTable.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime } from '../../ui/Time.tsx';
import { Tooltip } from '../../ui/Tooltip.tsx';

const ENDS: Record<NonNullable<Invite['endedBy']>, string> = {
  'used up': text('Used up'),
  expired: text('Expired'),
  revoked: text('Revoked'),
  inviter: text('Its maker may no longer invite'),
};

export function useInviteColumns(): Column<Invite>[] {
  const t = useT();
  return [
    {
      key: 'roleName',
      title: t('Role'),
      sortBy: 'roleName',
      card: 'head',
      cell: ({ roleName }) => (
        <Tooltip label={t(ROLE_WORDS[roleName])}>
          <span>{t(roleName)}</span>
        </Tooltip>
      ),
    },
    {
      key: 'status',
      title: t('Status'),
      cell: ({ status, endedBy }) => (
        <span>
          <StatusBadge status={status} />
          {endedBy && <span className="muted"> · {t(ENDS[endedBy])}</span>}
        </span>
      ),
    },
    {
      key: 'used',
      title: t('Used'),
      sortBy: 'used',
      align: 'right',
      cell: ({ used, uses }) => t('{{used}} of {{uses}}', { used, uses }),
    },
    {
      key: 'inviter',
      title: t('Invited by'),
      sortBy: 'inviter',
      cell: ({ inviter }) => (
        <span>
          {inviter.name} {inviter.isMe && <Tag color="primary">{t('That’s you')}</Tag>}
        </span>
      ),
    },
    {
      key: 'createdAt',
      title: t('Created'),
      sortBy: 'createdAt',
      align: 'right',
      cell: ({ createdAt }) => <DateTime at={createdAt} />,
    },
    {
      key: 'expiresAt',
      title: t('Good until'),
      sortBy: 'expiresAt',
      align: 'right',
      cell: ({ expiresAt }) => <DateTime at={expiresAt} />,
    },
  ];
}
