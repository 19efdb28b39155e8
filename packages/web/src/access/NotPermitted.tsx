import type { Permission } from '@stagi/contract/permissions.ts';
import { useUserIfSignedIn } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { Note } from '../ui/Note.tsx';
import { permissionsText } from './permissionChecks.ts';

interface Props {
  /** The part of the page that is not shown. */
  name: string;
  /** Any one of them would show it. */
  permissions: readonly Permission[];
}

/** In place of a part of a page whose calls the member's role does not permit: nothing is called for it. */
export function NotPermitted({ name, permissions }: Props) {
  const t = useT();
  const isMember = useUserIfSignedIn()?.workspace != null;
  return (
    <Note title={t('Not permitted')}>
      <span data-testid="not-permitted">
        {isMember
          ? t('{{name}} needs a permission that your role in this workspace does not include: {{permissions}}', {
              name,
              permissions: permissionsText(permissions),
            })
          : t('You are not in a workspace')}
      </span>
      {isMember && <> · {t('An owner or admin of the workspace can change your role.')}</>}
    </Note>
  );
}
