import { api } from '@stagi/contract/api.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { q } from '../../api/query.ts';
import { switchWorkspace, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ROLE_NAMES } from '../../i18n/roleNames.ts';
import { useAddressParams } from '../../navigation/useAddressParams.ts';
import { memberVerdict } from '../../people/memberVerdict.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { Button } from '../../ui/Button.tsx';
import { Tag } from '../../ui/Tag.tsx';
import account from './AccountPage.module.css';
import classes from './WorkspacesSection.module.css';

/** Loaded when first opened. */
const CreateWorkspace = lazy(async () => ({ default: (await import('./WorkspaceDialogs.tsx')).CreateWorkspace }));
const LeaveWorkspace = lazy(async () => ({ default: (await import('./WorkspaceDialogs.tsx')).LeaveWorkspace }));

const PARAM = 'workspace';

/** The workspaces of the person: switch, leave the current one, create one. */
export function WorkspacesSection() {
  const t = useT();
  const user = useUser();
  const [params, changeParams] = useAddressParams();
  const creating = params.get(PARAM) === 'new';
  const [leaving, setLeaving] = useState(false);
  const [used, setUsed] = useState(false);
  const leave = useLeaveVerdict();

  function setCreating(on: boolean): void {
    changeParams((next) => (on ? next.set(PARAM, 'new') : next.delete(PARAM)), { replace: true });
  }

  return (
    <section className={account.section}>
      <h2>{t('Workspaces')}</h2>
      <div className={account.fields}>
        <ul className={classes.list}>
          {user.profile.clientRelations.map((relation) => {
            const isCurrent = relation.clientId === user.workspace?.clientId;
            return (
              <li key={relation.clientId} className={classes.workspace} data-testid="workspace-entry">
                <span className={classes.names}>
                  <span className={classes.name}>{relation.clientName}</span>
                  <span className={classes.role}>{t(ROLE_NAMES[relation.roleName])}</span>
                </span>
                {isCurrent ? (
                  <>
                    <Tag color="primary">{t('Current')}</Tag>
                    <ActionButton
                      size="xs"
                      verdict={leave}
                      testId="workspace-leave"
                      onClick={() => {
                        setUsed(true);
                        setLeaving(true);
                      }}
                    >
                      {t('Leave')}
                    </ActionButton>
                  </>
                ) : (
                  <Button
                    size="xs"
                    color="gray"
                    aria-label={t('Switch to {{workspace}}', { workspace: relation.clientName })}
                    onClick={() => switchWorkspace(user, relation)}
                  >
                    {t('Switch')}
                  </Button>
                )}
              </li>
            );
          })}
        </ul>
        <div>
          <Button color="gray" data-testid="workspace-create" onClick={() => setCreating(true)}>
            {t('Create a workspace')}
          </Button>
        </div>
      </div>
      <Suspense>
        {creating && <CreateWorkspace opened={creating} onClose={() => setCreating(false)} />}
        {used && <LeaveWorkspace opened={leaving} onClose={() => setLeaving(false)} />}
      </Suspense>
    </section>
  );
}

/** The last owner cannot leave. Only owners can be the last, and they may list members. Until it is known, the call refuses. */
function useLeaveVerdict(): Verdict {
  const { profile, workspace } = useUser();
  const own = { entityFilterRequest: { queryString: profile.email.slice(0, 200) }, roles: ['Owner' as const] };
  const owners = useQuery({
    ...q(api.clients.members, own, { quiet: true }),
    enabled: workspace?.roleName === 'Owner',
  });
  const me = owners.data?.entities.find(({ isMe }) => isMe);
  return memberVerdict(me ?? { hold: null });
}
