import { api } from '@stagi/contract/api.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { SIGN_UP_LINK_STATUSES, type SignUpLink } from '@stagi/contract/signUpLinks.ts';
import type { SignUpRule } from '@stagi/contract/signUpRules.ts';
import { text } from '@stagi/contract/text.ts';
import { IconLink, IconPlayerStop, IconPlus } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { call } from '../../api/client.ts';
import { useSite } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { Button } from '../../ui/Button.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import { useSignUpLinkColumns } from './useSignUpLinkColumns.tsx';

const SignUpLinkDialog = lazyComponent(async () => (await import('./SignUpLinkDialog.tsx')).SignUpLinkDialog);

const ENDED = text('This link has already ended');

const ABOUT: Record<SignUpRule, string> = {
  open: text('Everybody may sign up on this platform, so nobody needs a link. The setting SIGN_UP changes that.'),
  invite: text('People sign up with a link of this list, or with a join link of a workspace.'),
  domain: text('People with another address than those of {{domains}} sign up with a link of this list.'),
  off: text('Nobody can sign up on this platform, not even with a link. The setting SIGN_UP changes that.'),
};

/** The links that people sign up with where not everybody may, for operators: create, revoke. */
export function SignUpLinksPage() {
  const t = useT();
  const { signUp } = useSite();
  const state = useListState();
  const list = useList(api.signUpLinks.list, { entityFilterRequest: state.request }, state);
  const columns = useSignUpLinkColumns();
  const actions = useSignUpLinkActions();
  const [dialog, setDialog] = useState<'unused' | 'open' | 'closed'>('unused');
  const rule = signUp?.rule ?? 'open';
  const about = t(ABOUT[rule], { domains: signUp?.domains.join(', ') ?? '' });

  return (
    <ListPage
      title={t(ROUTES.adminSignUpLinks.title)}
      about={about}
      create={
        <Button
          icon={<IconPlus size={16} />}
          aria-haspopup="dialog"
          onClick={() => setDialog('open')}
          data-testid="sign-up-link-create"
        >
          {t('Create link')}
        </Button>
      }
      list={list}
      search={t('Note')}
      filters={<StatusFilter statuses={SIGN_UP_LINK_STATUSES} value={state.statuses} onChange={state.setStatuses} />}
      name="sign-up-links"
      rowTestId="sign-up-link-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowName={({ note, id }) => note || String(id)}
      actions={actions}
      noMatches={{ title: t('No link matches') }}
      empty={{ icon: <IconLink size={20} />, title: t('No sign-up links yet'), text: about }}
    >
      {dialog !== 'unused' && (
        <Suspense>
          <SignUpLinkDialog opened={dialog === 'open'} onClose={() => setDialog('closed')} />
        </Suspense>
      )}
    </ListPage>
  );
}

function useSignUpLinkActions() {
  const t = useT();
  return useRowActions<SignUpLink>(
    [
      {
        name: 'revoke',
        label: t('Revoke'),
        icon: IconPlayerStop,
        danger: true,
        can: ({ status }) => (status === 'open' ? { allowed: true } : { allowed: false, reason: ENDED }),
        perform: ({ id }, options) => call(api.signUpLinks.revoke, { id }, options),
        confirm: () => ({
          title: t('Revoke this link?'),
          text: t('Nobody can sign up with it any more. Accounts that were made with it stay.'),
        }),
        success: () => t('The link has been revoked'),
      },
    ],
    ['admin/sign-up-link/'],
  );
}
