import type { Permission } from '@stagi/contract/permissions.ts';
import { useT } from '../i18n/i18n.ts';
import { PERMISSION_WORDS } from '../i18n/permissionWords.ts';
import { Tooltip } from './Tooltip.tsx';

/** The rights of a token or an app: how many, and which on hover or focus. Null: all that its person has. */
export function GrantedPermissions({ permissions }: { permissions: readonly Permission[] | null }) {
  const t = useT();
  if (permissions === null) return t('All your permissions');
  return (
    <Tooltip label={permissions.map((permission) => t(PERMISSION_WORDS[permission])).join(' · ')}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what the count stands for must be readable by keyboard */}
      <span tabIndex={0}>{t('{{count}} permissions', { count: permissions.length })}</span>
    </Tooltip>
  );
}
