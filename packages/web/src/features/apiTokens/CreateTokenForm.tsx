import { Group, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { type Permission, TOKEN_PERMISSIONS } from '@stagi/contract/permissions.ts';
import { text } from '@stagi/contract/text.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { PERMISSION_WORDS } from '../../i18n/permissionWords.ts';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { CheckboxGroup } from '../../ui/form/Checkbox.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { RadioGroup } from '../../ui/form/RadioGroup.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { DATE_MASK } from '../../ui/kitConstants.ts';
import { DateTime } from '../../ui/Time.tsx';
import { type Lifetime, lifetimeEnd } from './lifetime.ts';

const LIFETIMES: readonly { value: Lifetime; label: string }[] = [
  { value: '7', label: text('7 days') },
  { value: '30', label: text('30 days') },
  { value: '90', label: text('90 days') },
  { value: '365', label: text('1 year') },
  { value: 'day', label: text('Custom date…') },
  { value: 'never', label: text('No expiration') },
];

interface Values {
  description: string;
  lifetime: Lifetime | null;
  /** DD/MM/YYYY, for `day`. */
  day: string;
  scope: 'all' | 'some';
  permissions: Permission[];
}

/** In the order of the words, not of the contract. */
const IN_ORDER = Object.keys(PERMISSION_WORDS) as Permission[];

const DATE_SHOWN = 'DD/MM/YYYY';

const NEW: Values = { description: '', lifetime: '90', day: '', scope: 'all', permissions: [] };

export function CreateTokenForm({ onDone, onCancel }: { onDone(token: string): void; onCancel(): void }) {
  const t = useT();
  const { workspace, permissions: held } = useUser();
  const { form, field, submit, loading } = useCallForm(api.apiTokens.create, {
    initialValues: NEW,
    toInput: ({ description, scope, permissions, ...until }) => ({
      description,
      expiresAt: lifetimeEnd(until)?.toISOString(),
      permissions: scope === 'some' ? permissions : undefined,
    }),
    fieldOf: (path) => (path === 'expiresAt' ? 'day' : path),
    alsoCheck: (values): Record<string, string> => {
      if (values.lifetime === null) return { lifetime: text('Please choose an option') };
      return values.lifetime === 'day' && !lifetimeEnd(values) ? { day: text('Enter a valid date') } : {};
    },
    onDone: ({ token }) => onDone(token),
  });
  const { lifetime, day, scope, permissions } = form.values;
  const end = lifetimeEnd({ lifetime, day });
  const grantable = IN_ORDER.filter(
    (permission) => TOKEN_PERMISSIONS.includes(permission) && held.includes(permission),
  );

  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <TextInput
          label={t('Description')}
          placeholder={t('Such as “build server”')}
          autoComplete="off"
          limit={100}
          data-autofocus
          {...field('description')}
        />
        <Group gap={12} align="flex-start" grow>
          <Select
            label={t('Expiration')}
            options={LIFETIMES.map(({ value, label }) => ({ value, label: t(label) }))}
            description={
              end ? (
                <DateTime at={end.toISOString()} />
              ) : lifetime === 'never' ? (
                t('It works until you archive it.')
              ) : undefined
            }
            data-testid="token-lifetime"
            {...field('lifetime')}
          />
          {lifetime === 'day' && (
            <TextInput label={t('Expiration date')} placeholder={DATE_SHOWN} mask={DATE_MASK} {...field('day')} />
          )}
        </Group>
        <RadioGroup
          label={t('Permissions in {{workspace}}', { workspace: workspace?.clientName ?? '' })}
          options={[
            {
              value: 'all',
              label: t('All your permissions'),
              description: t('Follows your role. Excludes accounts, members and payouts.'),
            },
            { value: 'some', label: t('Selected permissions') },
          ]}
          {...field('scope')}
          value={scope}
        />
        {scope === 'some' && (
          <CheckboxGroup
            label={t('Permissions')}
            options={grantable.map((permission) => ({ value: permission, label: t(PERMISSION_WORDS[permission]) }))}
            {...field('permissions')}
            value={permissions}
          />
        )}
        <DialogButtons onCancel={onCancel} submitLabel={t('Create token')} loading={loading} testId="token-submit" />
      </Stack>
    </Form>
  );
}
