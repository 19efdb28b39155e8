import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { INVITE_USES_MAX } from '@stagi/contract/invites.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { isFull } from '@stagi/contract/plans.ts';
import { text } from '@stagi/contract/text.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { type LinkDays, LinkTerms, linkExpiry } from '../../ui/form/LinkTerms.tsx';
import { DateTime } from '../../ui/Time.tsx';
import { RoleField } from './RoleField.tsx';
import { SeatsNote } from './SeatsNote.tsx';
import classes from './Team.module.css';

interface Values {
  role: Role;
  uses: number | string;
  days: LinkDays | null;
}

/** What the platform counts in seats; the dialog may be opened where no list of invites is. */
const SEATS = q(api.invites.list, { entityFilterRequest: { limit: 1 } }, { quiet: true });

export function InviteForm({ onDone, onCancel }: { onDone(link: string): void; onCancel(): void }) {
  const t = useT();
  const { data: { seats } = {} } = useQuery(SEATS);
  const { form, field, submit, loading } = useCallForm(api.invites.create, {
    initialValues: { role: 'Developer', uses: 1, days: '7' } as Values,
    toInput: ({ role, uses, days }) => ({
      role,
      uses: uses === '' ? undefined : uses,
      expiresAt: days === null ? undefined : linkExpiry(days).toISOString(),
    }),
    alsoCheck: ({ days }): Record<string, string> => (days === null ? { days: text('Please choose an option') } : {}),
    fieldOf: (path) => (path === 'expiresAt' ? 'days' : path),
    onDone: ({ link }) => onDone(link),
  });

  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <RoleField {...field('role')} value={form.values.role} />
        <LinkTerms usesMax={INVITE_USES_MAX} field={field} testId="invite" />
        {form.values.days !== null && (
          <p className={classes.line}>
            {t('Valid until')} <DateTime at={linkExpiry(form.values.days).toISOString()} />
          </p>
        )}
        {seats && <SeatsNote seats={seats} />}
        <DialogButtons
          onCancel={onCancel}
          submitLabel={t('Create link')}
          disabled={seats && isFull(seats)}
          loading={loading}
          testId="invite-submit"
        />
      </Stack>
    </Form>
  );
}
