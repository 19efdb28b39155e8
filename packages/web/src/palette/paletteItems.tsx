import { LANGUAGES } from '@stagi/contract/languages.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { text } from '@stagi/contract/text.ts';
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
import { canOpen } from '../access/permissionChecks.ts';
import { signOut, switchWorkspace, useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { LANGUAGE_NAME } from '../i18n/locale.ts';
import type { Overlay } from '../keyboard/overlays.ts';
import { GO_KEY, GO_TO_PAGES, HELP_KEY } from '../keyboard/shortcuts.ts';
import { RouteIcon } from '../navigation/routeIcons.tsx';
import { ADMINISTRATION } from '../navigation/sections.ts';
import { paths } from '../paths.ts';
import { useLanguage, useTheme } from '../preferences/preferences.ts';

export type PaletteGroup =
  | 'recent'
  | 'pages'
  | 'servers'
  | 'storages'
  | 'containers'
  | 'projects'
  | 'tasks'
  | 'actions';

export interface PaletteItem {
  /** Stays the same over languages and visits: what "recent" remembers. */
  id: string;
  group: PaletteGroup;
  label: string;
  detail?: ReactNode;
  /** More words to search by, in English: they work in any language. */
  words?: string;
  icon: ReactNode;
  keys?: readonly string[];
  does: { to: string } | { opens: Overlay } | { run(): void };
}

/** The pages and actions that the person's permissions allow. */
export function usePageAndActionItems(): PaletteItem[] {
  const t = useT();
  const state = useUserState();
  const { setTheme } = useTheme();
  const { setLanguage } = useLanguage();
  const permissions = state.is === 'signed-in' ? state.user.permissions : [];

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
    ['system', text('System theme'), <IconDeviceDesktop key="system" />],
  ];
  const everybody = [
    { ...action(text('Keyboard shortcuts'), <IconKeyboard />, { opens: 'keys' }), keys: [HELP_KEY] },
    ...themes.map(([theme, english, icon]) => action(english, icon, { run: () => setTheme(theme) }, 'theme')),
    ...LANGUAGES.map((language) => ({
      ...action(LANGUAGE_NAME[language], <IconLanguage />, { run: () => setLanguage(language) }, language),
      label: `${t('Language')}: ${LANGUAGE_NAME[language]}`,
      words: `language ${language}`,
    })),
  ];

  if (state.is !== 'signed-in') {
    const visitor = state.is === 'anonymous' ? [page(ROUTES.home), page(ROUTES.signUp), page(ROUTES.signIn)] : [];
    return [...visitor, ...everybody];
  }
  const { user } = state;
  const may = (route: Route) => canOpen(route, permissions);
  return [
    ...GO_TO_PAGES.filter(({ route }) => may(route)).map(({ route, letter }) => page(route, [GO_KEY, letter])),
    ...ADMINISTRATION.places.filter(may).map((route) => administration(route)),
    ...(may(ROUTES.marketplace)
      ? [action(text('Rent a server'), <IconBuildingStore />, { to: paths.marketplace() })]
      : []),
    ...(may(ROUTES.selfInstances)
      ? [action(text('Add your own server'), <IconPlus />, { to: paths.joinServer() })]
      : []),
    ...(may(ROUTES.storages)
      ? [action(text('Create a storage'), <IconPlus />, { to: paths.newStorage() }, 's3 bucket')]
      : []),
    ...(may(ROUTES.containers) ? [action(text('Create a container'), <IconPlus />, { to: paths.newContainer() })] : []),
    ...(may(ROUTES.projects)
      ? [action(text('Create a project'), <IconPlus />, { to: paths.newProject() }, 'git repository')]
      : []),
    ...(may(ROUTES.newTask) ? [action(text('Create a task'), <IconPlus />, { to: paths.newTask() }, 'run job')] : []),
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
