import { LANGUAGES } from '@stagi/contract/languages.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import type { Theme } from '@stagi/contract/user.ts';
import {
  IconBuildingStore,
  IconDeviceDesktop,
  IconKeyboard,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconPlus,
  IconSun,
  IconSwitchHorizontal,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { signOut, switchWorkspace, useUserState } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { LANGUAGE_NAME } from '../../i18n/locale.ts';
import { text } from '../../i18n/text.ts';
import { paths } from '../../paths.ts';
import { GO, GO_TO, HELP } from '../keyboard/keyMap.ts';
import { opens } from '../menuGate.ts';
import type { Overlay } from '../overlays.ts';
import { useLanguage, useTheme } from '../preferences.ts';
import { RouteIcon } from '../routeIcons.tsx';
import { ADMINISTRATION } from '../sections.ts';

export type PaletteGroup = 'recent' | 'pages' | 'servers' | 'containers' | 'actions';

export interface PaletteItem {
  /** Stays the same over languages and visits: what "recent" remembers. */
  id: string;
  group: PaletteGroup;
  label: string;
  detail?: ReactNode;
  /** Besides the label; finds an item in English in any language. */
  words?: string;
  icon: ReactNode;
  keys?: readonly string[];
  does: { to: string } | { opens: Overlay } | { run(): void };
}

/** Pages and actions; what one's permissions do not open is left out. */
export function useFixedItems(): PaletteItem[] {
  const t = useT();
  const state = useUserState();
  const { setTheme } = useTheme();
  const { setLanguage } = useLanguage();
  const permissions = state.is === 'here' ? state.user.permissions : [];

  const page = (route: Route, keys?: readonly string[]): PaletteItem => ({
    id: route.path,
    group: 'pages',
    label: t(route.title),
    words: route.title,
    icon: <RouteIcon path={route.path} />,
    keys,
    does: { to: route.path },
  });
  /** Under a name that tells it from a page of one's own. */
  const administration = (route: Route): PaletteItem => ({
    ...page(route),
    detail: t(ADMINISTRATION.title),
    words: `${route.title} ${ADMINISTRATION.title}`,
  });
  const action = (english: string, icon: ReactNode, does: PaletteItem['does'], words = ''): PaletteItem => ({
    id: `action:${english}`,
    group: 'actions',
    label: t(english),
    words: `${english} ${words}`,
    icon,
    does,
  });
  const themes: [Theme, string, ReactNode][] = [
    ['light', text('Light theme'), <IconSun key="light" />],
    ['dark', text('Dark theme'), <IconMoon key="dark" />],
    ['system', text('Theme of the system'), <IconDeviceDesktop key="system" />],
  ];
  const everybody = [
    { ...action(text('Keyboard shortcuts'), <IconKeyboard />, { opens: 'keys' }), keys: [HELP] },
    ...themes.map(([theme, english, icon]) => action(english, icon, { run: () => setTheme(theme) }, 'theme')),
    ...LANGUAGES.map((language) => ({
      ...action(LANGUAGE_NAME[language], <IconLanguage />, { run: () => setLanguage(language) }, language),
      label: `${t('Language')}: ${LANGUAGE_NAME[language]}`,
      words: `language ${language}`,
    })),
  ];

  if (state.is !== 'here') {
    const visitor = state.is === 'anonymous' ? [page(ROUTES.home), page(ROUTES.signUp), page(ROUTES.signIn)] : [];
    return [...visitor, ...everybody];
  }
  const { user } = state;
  const may = (route: Route) => opens(route, permissions);
  return [
    ...GO_TO.filter(({ route }) => may(route)).map(({ route, letter }) => page(route, [GO, letter])),
    ...ADMINISTRATION.places.filter(may).map((route) => administration(route)),
    ...(may(ROUTES.marketplace)
      ? [action(text('Rent a server'), <IconBuildingStore />, { to: paths.marketplace() })]
      : []),
    ...(may(ROUTES.selfInstances)
      ? [action(text('Add your own server'), <IconPlus />, { to: paths.joinServer() })]
      : []),
    ...(may(ROUTES.containers) ? [action(text('Create a container'), <IconPlus />, { to: paths.newContainer() })] : []),
    ...user.profile.clientRelations
      .filter((relation) => relation.clientId !== user.workspace?.clientId)
      .map((relation) => ({
        ...action(`workspace ${relation.clientId}`, <IconSwitchHorizontal />, {
          run: () => switchWorkspace(user, relation),
        }),
        label: t('Switch to {{workspace}}', { workspace: relation.clientName }),
        words: 'workspace switch',
      })),
    ...everybody,
    action(text('Log out'), <IconLogout />, { run: () => void signOut() }, 'sign out'),
  ];
}
