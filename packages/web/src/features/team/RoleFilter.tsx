import { ROLES } from '@stagi/contract/permissions.ts';
import { useT } from '../../i18n/i18n.ts';
import { ROLE_NAMES } from '../../i18n/roleNames.ts';
import type { ListState } from '../../lists/useListState.ts';
import { FilterMenu } from '../../ui/table/FilterMenu.tsx';
import { ROLE_FILTER, rolesOf } from './listInputs.ts';

export function RoleFilter({ state }: { state: ListState }) {
  const t = useT();
  return (
    <FilterMenu
      label={t('Role')}
      options={ROLES.map((role) => ({ value: role, label: t(ROLE_NAMES[role]) }))}
      value={rolesOf(state)}
      onChange={(roles) => state.setValues(ROLE_FILTER, roles)}
    />
  );
}
