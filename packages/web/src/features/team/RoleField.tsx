import { api } from '@stagi/contract/api.ts';
import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import { useQuery } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { ROLE_NAMES } from '../../i18n/roleNames.ts';
import { ROLE_WORDS } from '../../i18n/roleWords.ts';
import { RadioGroup } from '../../ui/form/RadioGroup.tsx';

/** Which role somebody is given: each with what it lets them do, or why it is not one's own to give. */
export function RoleField(field: Omit<ComponentProps<typeof RadioGroup>, 'label' | 'variant' | 'options'>) {
  const t = useT();
  const { data } = useQuery(q(api.clients.roles, {}));
  const mayGive = (role: Role) => data?.entities.find(({ roleName }) => roleName === role)?.grantable ?? true;
  return (
    <RadioGroup
      {...field}
      label={t('Role')}
      variant="filled"
      options={ROLES.map((role) => ({
        value: role,
        label: t(ROLE_NAMES[role]),
        description: mayGive(role) ? t(ROLE_WORDS[role]) : t('This role has permissions that yours does not'),
        disabled: !mayGive(role),
      }))}
    />
  );
}
