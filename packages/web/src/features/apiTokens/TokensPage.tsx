import { api } from '@stagi/contract/api.ts';
import type { ApiToken } from '@stagi/contract/apiTokens.ts';
import { IconApi, IconArchive, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { NavLink, useParams } from 'react-router';
import { call } from '../../api/client.ts';
import { useUser } from '../../api/user.ts';
import { NotFound } from '../../errorPages/NotFound.tsx';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { paths } from '../../paths.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { LinkTabs } from '../../ui/LinkTabs.tsx';
import { CreateTokenDialog } from './CreateTokenDialog.tsx';
import { useTokenColumns } from './useTokenColumns.tsx';

/** No event reports the last use. */
const REFETCH_MS = 30_000;

export function TokensPage() {
  const { tab = 'active' } = useParams();
  if (tab !== 'active' && tab !== 'archive') return <NotFound />;
  // Each tab has its own search and selection.
  return <Tokens key={tab} archived={tab === 'archive'} />;
}

function Tokens({ archived }: { archived: boolean }) {
  const t = useT();
  const { workspace } = useUser();
  const state = useListState();
  const list = useList(
    api.apiTokens.list,
    { entityFilterRequest: state.request, archived },
    state,
    archived ? undefined : REFETCH_MS,
  );
  const columns = useTokenColumns(archived);
  const actions = useTokenActions();
  const [creating, setCreating] = useState(false);
  const create = (
    <ActionButton
      tone="primary"
      icon={<IconPlus size={16} />}
      verdict={workspace ? { allowed: true } : { allowed: false, reason: t('You need a workspace to create a token') }}
      testId="token-create"
      onClick={() => setCreating(true)}
    >
      {t('Create token')}
    </ActionButton>
  );

  return (
    <ListPage
      title={t('API tokens')}
      about={t(
        'A token lets a program act on your behalf in one workspace. It never has more access than you, and none to accounts, members or payouts.',
      )}
      headerActions={(archived || !list.isEmpty) && create}
      above={
        <LinkTabs
          label={t('API tokens')}
          link={NavLink}
          tabs={[
            { label: t('Active'), to: paths.tokens(), end: true },
            { label: t('Archive', { context: 'place' }), to: paths.tokens('archive') },
          ]}
        />
      }
      list={list}
      search={t('Search tokens')}
      label={archived ? t('Archived API tokens') : t('Active API tokens')}
      name={archived ? 'archived-tokens' : 'tokens'}
      rowTestId="token-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowName={({ description }) => description}
      actions={archived ? undefined : actions}
      noMatches={{
        title: t('No token matches'),
        text: t('Try other words, or the beginning of a token.'),
      }}
      empty={
        archived
          ? {
              icon: <IconArchive size={20} />,
              title: t('No archived tokens'),
              text: t('Archived and expired tokens appear here. They no longer work.'),
            }
          : {
              icon: <IconApi size={20} />,
              title: t('No API tokens yet'),
              text: t('Create one for each program that uses the API: a build server, a script, a notebook.'),
              action: create,
            }
      }
    >
      <CreateTokenDialog opened={creating} onClose={() => setCreating(false)} />
    </ListPage>
  );
}

function useTokenActions() {
  const t = useT();
  return useRowActions<ApiToken>(
    [
      {
        name: 'archive',
        label: t('Archive it'),
        icon: IconArchive,
        danger: true,
        perform: ({ id }, options) => call(api.apiTokens.archive, { id }, options),
        confirm: ({ description }) => ({
          title: t('Archive the token “{{title}}”?', { title: description }),
          text: t('Programs that use it lose access at once and permanently, and their live streams end.'),
        }),
        success: () => t('The token has been archived'),
        many: {
          confirm: (tokens) => ({
            title: t('Archive {{count}} tokens?', { count: tokens.length }),
            text: t('Programs that use them lose access at once and permanently, and their live streams end.'),
            names: tokens.map(({ description }) => description),
          }),
          success: (count) => t('{{count}} tokens have been archived', { count }),
        },
      },
    ],
    ['api-token/'],
  );
}
