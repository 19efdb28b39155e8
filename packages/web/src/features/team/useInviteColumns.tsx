import type { Invite } from '@stagi/contract/invites.ts';
import { text } from '@stagi/contract/text.ts';
import { useT } from '../../i18n/i18n.ts';
import { ROLE_NAMES } from '../../i18n/roleNames.ts';
import { ROLE_WORDS } from '../../i18n/roleWords.ts';
import { CutText } from '../../ui/CutText.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { Tooltip } from '../../ui/Tooltip.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';

const ENDS: Record<NonNullable<Invite['endedBy']>, string> = {
  'used up': text('Used up'),
  expired: text('Expired'),
  revoked: text('Revoked'),
  inviter: text('Its creator can no longer invite'),
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
          <span>{t(ROLE_NAMES[roleName])}</span>
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
          <CutText>{inviter.name}</CutText> {inviter.isMe && <Tag color="primary">{t('That’s you')}</Tag>}
        </span>
      ),
    },
    timeColumn('createdAt', t('Created')),
    timeColumn('expiresAt', t('Valid until')),
  ];
}
