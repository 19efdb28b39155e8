import { Tooltip } from '@mantine/core';
import { MENU, type MenuItem } from '@stagi/contract/menu.ts';
import { holdsAny } from '@stagi/contract/permissions.ts';
import { NavLink } from 'react-router';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import classes from './MainMenu.module.css';
import { isShown } from './menuGate.ts';

/** The product's areas, from the contract's table; what one may not enter is greyed with the reason. */
export function MainMenu({ mobile = false }: { mobile?: boolean }) {
  const t = useT();
  const state = useUserState();
  const permissions = state.is === 'here' ? state.user.permissions : [];
  const items = MENU.filter((item) => isShown(item, { mobile, anonymous: state.is === 'anonymous', permissions }));
  return (
    <nav className={classes.menu} data-mobile={mobile || undefined} aria-label={t('Main menu')}>
      {items.map((item) => (
        <Item key={item.testId} item={item} reason={reasonAgainst(item)} />
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
      case 'here':
        return t('Your role in this workspace does not include {{name}}', { name: t(item.name) });
    }
  }
}

function Item({ item, reason }: { item: MenuItem; reason: string | null }) {
  const t = useT();
  if (reason === null) {
    return (
      <NavLink to={item.route} className={classes.item} data-testid={item.testId}>
        {t(item.name)}
      </NavLink>
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
