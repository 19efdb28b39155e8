import type { ApiToken } from '@stagi/contract/apiTokens.ts';
import { text } from '@stagi/contract/text.ts';
import { useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { CutText } from '../../ui/CutText.tsx';
import { useNow } from '../../ui/clock.ts';
import { GrantedPermissions } from '../../ui/GrantedPermissions.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime, TimeAgo } from '../../ui/Time.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import { NameCell } from '../../ui/table/NameCell.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';

const SOON_MS = 7 * 86_400_000;
const ENDED_BY = {
  archived: text('Archived'),
  expired: text('Expired'),
  left: text('You left the workspace'),
};

export function useTokenColumns(archived: boolean): Column<ApiToken>[] {
  const t = useT();
  const { profile } = useUser();
  const many = profile.clientRelations.length > 1;
  return [
    {
      key: 'description',
      title: t('Description'),
      sortBy: 'description',
      card: 'head',
      cell: ({ description, prefix }) => <NameCell title={description} slug={`${prefix}…`} />,
    },
    {
      key: 'workspace',
      title: t('Workspace'),
      extra: !many && !archived,
      cell: ({ clientName }) => <CutText>{clientName}</CutText>,
    },
    {
      key: 'permissions',
      title: t('Permissions'),
      extra: archived,
      cell: ({ permissions }) => <GrantedPermissions permissions={permissions} />,
    },
    {
      key: 'lastUsedAt',
      title: t('Last used'),
      sortBy: 'lastUsedAt',
      align: 'right',
      cell: ({ lastUsedAt, lastUsedIp }) =>
        lastUsedAt === null ? (
          <span className="muted">{t('Never')}</span>
        ) : (
          <>
            <TimeAgo at={lastUsedAt} /> <span className="mono muted">{lastUsedIp}</span>
          </>
        ),
    },
    timeColumn('createdAt', t('Created')),
    archived
      ? {
          key: 'ended',
          title: t('Ended'),
          align: 'right',
          cell: ({ ended }) =>
            ended && (
              <>
                <Tag>{t(ENDED_BY[ended.by])}</Tag> <DateTime at={ended.at} />
              </>
            ),
        }
      : {
          key: 'expiresAt',
          title: t('Expiration'),
          sortBy: 'expiresAt',
          align: 'right',
          cell: ({ expiresAt }) => <Expiration at={expiresAt} />,
        },
  ];
}

/** The expiry, marked when it is near. */
function Expiration({ at }: { at: string | null }) {
  const t = useT();
  const left = useNow();
  if (at === null) return <span className="muted">{t('Never')}</span>;
  return (
    <>
      {new Date(at).getTime() - left < SOON_MS && <Tag color="primary">{t('Soon')}</Tag>} <DateTime at={at} />
    </>
  );
}
