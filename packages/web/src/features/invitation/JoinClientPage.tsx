import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { Invitation } from '@stagi/contract/invites.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, Navigate, useParams } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useSite } from '../../api/site.ts';
import { useCall } from '../../api/useCall.ts';
import { enterWorkspace, signOut, useUser, useUserState } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ROLE_WORDS } from '../../i18n/roleWords.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { formatDate } from '../../ui/format.ts';
import { Loader } from '../../ui/Loader.tsx';
import { Note } from '../../ui/Note.tsx';
import classes from './JoinClientPage.module.css';

/** The page of a join link: shows the invitation and a button that accepts it. */
export function JoinClientPage() {
  const t = useT();
  const { code = '' } = useParams();
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.invites.view, { code }, { quiet: true }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (isOver(error)) return <Navigate to={paths.expiredInvite()} replace />;
  if (data) return <Invited code={code} invitation={data.invitation} reload={() => void refetch()} />;
  return (
    <FormCard size="m" title={t('Join a workspace')}>
      {error ? (
        <Stack gap={16}>
          <Note tone="bad" title={t('This could not be loaded')}>
            {errorText(error)}
          </Note>
          <Button color="gray" fullWidth onClick={() => void refetch()} loading={isFetching}>
            {t('Try again')}
          </Button>
        </Stack>
      ) : (
        <Loader label={t('Loading')} />
      )}
    </FormCard>
  );
}

/** The platform does not say why a link is invalid. */
const isOver = (error: Error | null): boolean => error instanceof CallError && [200, 400].includes(error.status);

interface Props {
  code: string;
  invitation: Invitation;
  reload(): void;
}

function Invited({ code, invitation, reload }: Props) {
  const t = useT();
  const state = useUserState();
  const here = paths.joinClient(code);
  if (state.is === 'signed-in' && !state.user.profile.isSignupFormSubmitted)
    return <Navigate to={paths.signUpForm(here)} replace />;
  const { clientName: workspace, roleName, invitedBy } = invitation;
  const email = state.is === 'signed-in' ? state.user.profile.email : null;
  return (
    <FormCard
      size="m"
      title={t('Join {{workspace}}', { workspace })}
      lead={t('{{name}} invites you to this workspace.', { name: invitedBy })}
      below={
        email !== null && (
          <>
            {t('You are logged in as {{email}}.', { email })}{' '}
            <button type="button" onClick={() => void signOut(here)}>
              {t('Log out')}
            </button>
          </>
        )
      }
    >
      <Stack gap={16}>
        <dl className={classes.facts}>
          <dt>{t('Your role')}</dt>
          <dd>
            {t(roleName)}
            <div className="muted">{t(ROLE_WORDS[roleName])}</div>
          </dd>
          <dt>{t('Valid until')}</dt>
          <dd>
            <time dateTime={invitation.expiresAt}>
              {formatDate(invitation.expiresAt, undefined, document.documentElement.lang)}
            </time>
          </dd>
        </dl>
        {state.is === 'signed-in' ? (
          <Join code={code} invitation={invitation} reload={reload} />
        ) : (
          <WaysIn code={code} returnUrl={here} />
        )}
      </Stack>
    </FormCard>
  );
}

function Join({ code, invitation, reload }: Props) {
  const t = useT();
  const user = useUser();
  const [refusal, setRefusal] = useState<string | null>(null);
  const { run, loading } = useCall(api.invites.join, {
    onDone: ({ entity }) =>
      enterWorkspace(user, entity, t('You have joined {{workspace}}', { workspace: entity.clientName })),
    onRefused: (error) => {
      if (error.status !== 200) return false;
      setRefusal(errorText(error));
      // The link may have expired meanwhile.
      reload();
      return true;
    },
  });
  const joined = user.profile.clientRelations.find(({ clientId }) => clientId === invitation.clientId);
  if (joined)
    return (
      <>
        <Note>{t('You are already a member of this workspace, as {{role}}.', { role: t(joined.roleName) })}</Note>
        <Button fullWidth onClick={() => enterWorkspace(user, joined)} data-testid="join-go">
          {t('Go to the workspace')}
        </Button>
      </>
    );
  return (
    <>
      {refusal && <Note tone="bad">{refusal}</Note>}
      <Button fullWidth loading={loading} onClick={() => void run({ code })} data-testid="join-submit">
        {t('Join')}
      </Button>
    </>
  );
}

function WaysIn({ code, returnUrl }: { code: string; returnUrl: string }) {
  const t = useT();
  const { signUp } = useSite();
  return (
    <>
      <p className={classes.hint}>{t('Log in or sign up, then you return here.')}</p>
      <div className={classes.buttons}>
        <Button color="gray" component={Link} to={paths.signIn(returnUrl)} data-testid="join-log-in">
          {t('Log in')}
        </Button>
        {signUp?.rule !== 'off' && (
          <Button
            component={Link}
            // Where the invitation admits, the new account has joined with it: there is nothing to return to.
            to={signUp?.rule === 'invite' ? paths.signUp(undefined, code) : paths.signUp(returnUrl)}
            data-testid="join-sign-up"
          >
            {t('Sign up')}
          </Button>
        )}
      </div>
    </>
  );
}
