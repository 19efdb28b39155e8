import { api } from '@stagi/contract/api.ts';
import type { ApiToken } from '@stagi/contract/apiTokens.ts';
import { IconApi, IconArchive, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { NavLink, useParams } from 'react-router';
import { useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { NotFound } from '../../layouts/NotFound.tsx';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { paths } from '../../paths.ts';
import { ActionButton, ActionMenu } from '../../ui/actions.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { LinkTabs } from '../../ui/LinkTabs.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { ArchiveToken, ArchiveTokens } from './ArchiveTokens.tsx';
import { CreateTokenDialog } from './CreateTokenDialog.tsx';
import { useTokenColumns } from './columns.tsx';

/** The last use is no event: what is shown of it is read again now and then. */
const READ_AGAIN_MS = 30_000;

export function TokensPage() {
  const { tab = 'active' } = useParams();
  if (tab !== 'active' && tab !== 'archive') return <NotFound />;
  // Each tab has its own search and selection.
  return <Tokens key={tab} archived={tab === 'archive'} />;
}

function Tokens({ archived }: { archived: boolean }) {
  const t = useT();
  const { workspace } = useUser();
  const list = useListState();
  const tokens = useList(
    api.apiTokens.list,
    { entityFilterRequest: list.request, archived },
    list,
    archived ? undefined : READ_AGAIN_MS,
  );
  const columns = useTokenColumns(archived);
  const [creating, setCreating] = useState(false);
  const [archiving, setArchiving] = useState<ApiToken | null>(null);
  const [archivingMany, setArchivingMany] = useState<readonly ApiToken[]>([]);
  const [askedMany, setAskedMany] = useState(false);
  const hasRows = tokens.table.rows !== undefined && tokens.table.rows.length > 0;

  const create = (
    <ActionButton
      tone="primary"
      icon={<IconPlus size={16} />}
      verdict={
        workspace
          ? { allowed: true }
          : { allowed: false, reason: t('A token works in one workspace, and you are in none') }
      }
      testId="token-create"
      onClick={() => setCreating(true)}
    >
      {t('Create token')}
    </ActionButton>
  );

  return (
    <>
      <PageHeader
        title={t('API tokens')}
        actions={archived || hasRows || list.narrowed || tokens.table.stale ? create : undefined}
      >
        {t(
          'A token lets a program act in your name in one workspace. It may never do more than you, and nothing to accounts, members or payouts.',
        )}
      </PageHeader>
      <LinkTabs
        label={t('API tokens')}
        link={NavLink}
        tabs={[
          { label: t('Active'), to: paths.tokens(), end: true },
          { label: t('Archive'), to: paths.tokens('archive') },
        ]}
      />
      {(hasRows || list.narrowed || tokens.table.stale) && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search tokens')} />
        </ListBar>
      )}
      <DataTable
        {...tokens.table}
        label={archived ? t('Archived API tokens') : t('Active API tokens')}
        name={archived ? 'archived-tokens' : 'tokens'}
        rowTestId="token-row"
        rowName={({ description }) => description}
        columns={columns}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        bulk={
          archived
            ? undefined
            : [
                {
                  label: t('Archive it'),
                  icon: <IconArchive size={14} />,
                  danger: true,
                  testId: 'bulk-archive',
                  verdict: () => ({ allowed: true }),
                  onClick: (rows) => {
                    setArchivingMany(rows);
                    setAskedMany(true);
                  },
                },
              ]
        }
        rowActions={
          archived
            ? undefined
            : (token) => (
                <ActionMenu
                  label={t('Actions for {{title}}', { title: token.description })}
                  actions={[
                    {
                      label: t('Archive it'),
                      icon: <IconArchive size={16} />,
                      danger: true,
                      testId: 'action-archive',
                      onClick: () => setArchiving(token),
                    },
                  ]}
                />
              )
        }
        empty={
          list.narrowed ? (
            <NoMatches title={t('No token matches')} onClear={list.clear}>
              {t('Try other words, or the beginning of a token that you found somewhere.')}
            </NoMatches>
          ) : archived ? (
            <EmptyState icon={<IconArchive size={20} />} title={t('No archived tokens')}>
              {t('Tokens that were archived or have expired are listed here. They never work again.')}
            </EmptyState>
          ) : (
            <EmptyState icon={<IconApi size={20} />} title={t('No API tokens yet')} action={create}>
              {t('Create one for each program that is to work here: a build server, a script, a notebook.')}
            </EmptyState>
          )
        }
      />
      <CreateTokenDialog opened={creating} onClose={() => setCreating(false)} />
      <ArchiveToken token={archiving} onClose={() => setArchiving(null)} />
      <ArchiveTokens tokens={archivingMany} opened={askedMany} onClose={() => setAskedMany(false)} />
    </>
  );
}
