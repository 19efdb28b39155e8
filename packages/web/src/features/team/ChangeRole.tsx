import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Member } from '@stagi/contract/clients.ts';
import { type Role, rolesWith } from '@stagi/contract/permissions.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useEditVersion } from '../../api/useEditVersion.ts';
import { useT } from '../../i18n/i18n.ts';
import { ROLE_NAMES } from '../../i18n/roleNames.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Note } from '../../ui/Note.tsx';
import { OvertakenNote } from '../../ui/OvertakenNote.tsx';
import { toast } from '../../ui/toasts.ts';
import { RoleField } from './RoleField.tsx';
import classes from './Team.module.css';

const USES_SERVERS = rolesWith('INSTANCE_RENTED_MANAGEMENT');

interface Props {
  member: Member | null;
  onClose(): void;
}

export function ChangeRole({ member, onClose }: Props) {
  const t = useT();
  return (
    <Dialog
      opened={member !== null}
      onClose={onClose}
      title={t('Role of {{name}}', { name: member?.name ?? '' })}
      withClose={false}
      testId="role-dialog"
    >
      {member && <RoleForm member={member} onClose={onClose} />}
    </Dialog>
  );
}

function RoleForm({ member, onClose }: { member: Member; onClose(): void }) {
  const t = useT();
  const edit = useEditVersion(member.version, () => void invalidate('client/'));
  const { form, field, submit, loading } = useCallForm(api.clients.editMember, {
    initialValues: { role: member.roleName } as { role: Role },
    toInput: ({ role }) => ({ userId: member.userId, role, version: edit.version }),
    onRefused: edit.onRefused,
    onDone: ({ entity }) => {
      void invalidate('client/', 'user/profile');
      toast.success(t('{{name}} is now {{role}}', { name: entity.name, role: t(ROLE_NAMES[entity.roleName]) }));
      onClose();
    },
  });
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <RoleField {...field('role')} value={form.values.role} />
        {USES_SERVERS.includes(member.roleName) && !USES_SERVERS.includes(form.values.role) && (
          <Note tone="warn" title={t('With this role they lose at once:')}>
            <ul className={classes.ends}>
              <li>{t('Their SSH keys on the servers of this workspace')}</li>
              {member.keysAndLinks > 0 && (
                <li>
                  {t('{{count}} access keys and share links to its storages that they made', {
                    count: member.keysAndLinks,
                  })}
                </li>
              )}
            </ul>
          </Note>
        )}
        <OvertakenNote shown={edit.isOvertaken} />
        <DialogButtons onCancel={onClose} submitLabel={t('Save')} loading={loading} testId="role-submit" />
      </Stack>
    </Form>
  );
}
