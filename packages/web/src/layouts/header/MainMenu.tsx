import { FURTHER_MENU, MENU, type MenuItem } from '@stagi/contract/menu.ts';
import { holdsAny } from '@stagi/contract/permissions.ts';
import { useId } from 'react';
import { isMenuItemShown, permissionsText } from '../../access/permissionChecks.ts';
import { useUserState } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { MenuLink } from '../../navigation/MenuLink.tsx';
import { Tooltip } from '../../ui/Tooltip.tsx';
import classes from './MainMenu.module.css';

/** The product's areas from the contract's table. Items without permission are disabled and say why. */
export function MainMenu({ mobile = false }: { mobile?: boolean }) {
  const t = useT();
  const state = useUserState();
  const permissions = state.is === 'signed-in' ? state.user.permissions : [];
  const items = (mobile ? [...MENU, ...FURTHER_MENU] : MENU).filter((item) =>
    isMenuItemShown(item, { mobile, anonymous: state.is === 'anonymous', permissions }),
  );
  return (
    <nav className={classes.menu} data-mobile={mobile || undefined} aria-label={t('Main menu')}>
      {items.map((item) => (
        <Item key={item.testId} item={item} reason={reasonAgainst(item)} mobile={mobile} />
      ))}
    </nav>
  );

  function reasonAgainst(item: MenuItem): string | null {
    if (!item.needs || holdsAny(permissions, item.needs)) return null;
    switch (state.is) {
      case 'anonymous':
        return t('Log in to open {{name}}', { name: t(item.name) });
      case 'loading':
      case 'failed':
        return t('Your permissions are being loaded');
      case 'signed-in':
        if (!state.user.workspace) return t('You are not in a workspace');
        return t('{{name}} needs a permission that your role in this workspace does not include: {{permissions}}', {
          name: t(item.name),
          permissions: permissionsText(item.needs),
        });
    }
  }
}

function Item({ item, reason, mobile }: { item: MenuItem; reason: string | null; mobile: boolean }) {
  const t = useT();
  const nameId = useId();
  const reasonId = useId();
  if (reason === null) return <MenuLink item={item} inHeader className={classes.item} testId={item.testId} />;
  if (mobile) {
    return (
      // biome-ignore lint/a11y/useSemanticElements: a link without an address cannot be focused, and the reason must be
      <span
        className={classes.item}
        data-testid={item.testId}
        data-off
        aria-disabled="true"
        aria-labelledby={nameId}
        aria-describedby={reasonId}
        role="link"
        tabIndex={0}
      >
        <span id={nameId}>{t(item.name)}</span>
        <span className={classes.reason} id={reasonId}>
          {reason}
        </span>
      </span>
    );
  }
  return (
    <Tooltip label={reason}>
      {/* biome-ignore lint/a11y/useSemanticElements: a link without an address cannot be focused, and the reason must be */}
      <span className={classes.item} data-testid={item.testId} data-off aria-disabled="true" role="link" tabIndex={0}>
        {t(item.name)}
      </span>
    </Tooltip>
  );
}
