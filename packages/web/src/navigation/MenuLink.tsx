import type { MenuItem } from '@stagi/contract/menu.ts';
import { pageExists } from '@stagi/contract/routes.ts';
import type { SiteConfiguration } from '@stagi/contract/site.ts';
import { NavLink } from 'react-router';
import { track } from '../api/analytics.ts';
import { useSite } from '../api/site.ts';
import { useT } from '../i18n/i18n.ts';

interface Props {
  item: MenuItem;
  /** A link of the header has an event of its own. */
  inHeader?: boolean;
  className?: string;
  testId?: string;
}

/** A link of the menu, to the page or to the address that the operator configured; nothing where neither exists. */
export function MenuLink({ item, inHeader, className, testId }: Props) {
  const t = useT();
  const { elsewhere, route } = menuAddress(item, useSite());
  const event = (inHeader && item.analyticsEvent) || item.frontendEvent;
  const props = { className, 'data-testid': testId, onClick: () => event && track(event), children: t(item.name) };
  if (elsewhere) return <a href={elsewhere} target="_blank" rel="noopener noreferrer" {...props} />;
  return route === null ? null : <NavLink to={route} {...props} />;
}

/** Where a link of the menu leads: to an address of the operator, or to a page of this host, if there is one. */
export function menuAddress({ setting, route }: MenuItem, site: SiteConfiguration) {
  return { elsewhere: setting ? site[setting] : null, route: pageExists(route) ? route : null };
}
