import type { Language } from '@stagi/contract/languages.ts';

/** Screenshots of the product below `public/`, which `npm run screenshots` takes of today's build. */
export const SCREENS = ['server', 'logs', 'code', 'model'] as const;
export type ScreenName = (typeof SCREENS)[number];

export const SCREEN_THEMES = ['light', 'dark'] as const;
export type ScreenTheme = (typeof SCREEN_THEMES)[number];

/** In pixels of the file. */
export const SCREEN_SIZE = { width: 1440, height: 900 };

export const screenPath = (name: ScreenName, language: Language, theme: ScreenTheme): string =>
  `/screens/${name}-${language}-${theme}.webp`;

/** The picture that other sites show with a link to a page. */
export const openGraphPath = (language: Language): string => `/screens/og-${language}.png`;
export const OPEN_GRAPH_SIZE = { width: 1200, height: 630 };
