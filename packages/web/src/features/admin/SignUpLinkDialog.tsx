import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { SIGN_UP_LINK_USES_MAX } from '@stagi/contract/signUpLinks.ts';
import { text } from '@stagi/contract/text.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { LinkDialog } from '../../ui/dialogs/LinkDialog.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { type LinkDays, LinkTerms, linkExpiry } from '../../ui/form/LinkTerms.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';

/** Makes a sign-up link, then shows it for the only time. */
export function SignUpLinkDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  return (
    <LinkDialog
      opened={opened}
      onClose={onClose}
      titles={{ form: t('Create a sign-up link'), link: t('Copy the sign-up link') }}
      text={t('Anyone with this link can sign up. If it is lost, revoke it and create another.')}
      testId="sign-up-link"
    >
      {(onDone, onCancel) => <Fields onDone={onDone} onCancel={onCancel} />}
    </LinkDialog>
  );
}

interface Values {
  note: string;
  uses: number | string;
  days: LinkDays | null;
}

function Fields({ onDone, onCancel }: { onDone(link: string): void; onCancel(): void }) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.signUpLinks.create, {
    initialValues: { note: '', uses: 1, days: '7' } as Values,
    toInput: ({ note, uses, days }) => ({
      note,
      uses: uses === '' ? undefined : uses,
      expiresAt: days === null ? undefined : linkExpiry(days).toISOString(),
    }),
    alsoCheck: ({ days }): Record<string, string> => (days === null ? { days: text('Please choose an option') } : {}),
    fieldOf: (path) => (path === 'expiresAt' ? 'days' : path),
    onDone: ({ link }) => {
      onDone(link);
      void invalidate('admin/sign-up-link/');
    },
  });
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <TextInput
          label={t('Note')}
          optional
          description={t('For operators only.')}
          data-testid="sign-up-link-note"
          {...field('note')}
        />
        <LinkTerms usesMax={SIGN_UP_LINK_USES_MAX} field={field} testId="sign-up-link" />
        <DialogButtons
          onCancel={onCancel}
          submitLabel={t('Create link')}
          loading={loading}
          testId="sign-up-link-submit"
        />
      </Stack>
    </Form>
  );
}
