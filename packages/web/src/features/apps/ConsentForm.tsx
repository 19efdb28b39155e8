import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { App } from '@stagi/contract/apps.ts';
import type { AuthorizationRequest } from '@stagi/contract/authorizationRequest.ts';
import { TOKEN_PERMISSIONS } from '@stagi/contract/permissions.ts';
import { useState } from 'react';
import { useCall } from '../../api/useCall.ts';
import { useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { PERMISSION_WORDS } from '../../i18n/permissionWords.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { Select } from '../../ui/form/Select.tsx';
import classes from './ConsentPage.module.css';
import { RedirectToApp } from './RedirectToApp.tsx';

interface Props {
  app: App;
  request: AuthorizationRequest;
  /** The host of the redirect. */
  host: string;
  /** The redirect that denies the request. */
  denyLink: string;
}

/** Shows which app asks for what and where it redirects; allow or deny. */
export function ConsentForm({ app, request, host, denyLink }: Props) {
  const t = useT();
  const { profile, workspace: active } = useUser();
  const workspaces = profile.clientRelations;
  const [chosen, setChosen] = useState(active?.clientId ?? workspaces[0]?.clientId ?? null);
  const [link, setLink] = useState<string | null>(null);
  const { run, loading } = useCall(api.apps.authorizationCode, { onDone: (answer) => setLink(answer.link) });
  if (link !== null) return <RedirectToApp name={app.name} link={link} />;

  const workspace = workspaces.find(({ clientId }) => clientId === chosen);
  const powers = Object.entries(PERMISSION_WORDS).filter(
    ([permission]) =>
      workspace?.permissions.some((held) => held === permission) &&
      (app.permissions === null || app.permissions.some((may) => may === permission)) &&
      TOKEN_PERMISSIONS.some((may) => may === permission),
  );
  return (
    <FormCard
      size="m"
      title={t('Allow {{app}}?', { app: app.name })}
      lead={t('It asks for access to your account {{email}}.', { email: profile.email })}
      below={t('You can revoke access at any time in your account, under Sessions.')}
    >
      <Stack gap={16}>
        {app.isFirstParty ? (
          <div>{t('It gets access to all your workspaces.')}</div>
        ) : workspaces.length > 1 ? (
          <Select
            label={t('Workspace')}
            description={t('It gets access to this workspace only.')}
            options={workspaces.map(({ clientId, clientName }) => ({ value: clientId, label: clientName }))}
            value={workspace?.clientId ?? null}
            onChange={setChosen}
            data-testid="consent-workspace"
          />
        ) : (
          workspace && (
            <div>{t('It gets access to your workspace {{workspace}}.', { workspace: workspace.clientName })}</div>
          )
        )}
        <div>
          {t('It will be able to:')}
          <ul className={classes.facts} data-testid="consent-powers">
            <li>{t('See your name and email address')}</li>
            {powers.map(([permission, words]) => (
              <li key={permission}>{t(words)}</li>
            ))}
          </ul>
        </div>
        <p className={classes.hint}>{t('Access ends after 90 days, or 14 days without use.')}</p>
        <p className={classes.hint}>
          {t('Never more than you can do yourself, and never your login settings, members or payouts.')}
        </p>
        <div className={classes.buttons}>
          <Button color="gray" onClick={() => setLink(denyLink)} disabled={loading}>
            {t('Deny')}
          </Button>
          <Button
            loading={loading}
            disabled={workspaces.length > 0 && !workspace}
            onClick={() => void run({ ...request, workspace_id: workspace?.clientId })}
            data-testid="consent-allow"
          >
            {t('Allow')}
          </Button>
        </div>
        <p className={classes.host}>
          {isThisComputer(host)
            ? t('You will be redirected to the app on this computer ({{host}}).', { host })
            : t('You will be redirected to {{host}}.', { host })}
        </p>
      </Stack>
    </FormCard>
  );
}

export const isThisComputer = (host: string) => /^(127\.0\.0\.1|\[::1\]|localhost)(:|$)/.test(host);
