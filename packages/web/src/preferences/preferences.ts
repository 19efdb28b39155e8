import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Language } from '@stagi/contract/languages.ts';
import type { Theme } from '@stagi/contract/user.ts';
import { useEffect, useSyncExternalStore } from 'react';
import { call } from '../api/client.ts';
import { useSignedIn } from '../api/session.ts';
import { setProfile, type UserState } from '../api/user.ts';
import { chooseLanguage, currentLanguage, hasChosenLanguage, useT } from '../i18n/i18n.ts';
import { toast } from '../ui/toasts.ts';

const SCHEME: Record<Theme, MantineColorScheme> = { system: 'auto', light: 'light', dark: 'dark' };

export function useTheme(): { theme: Theme; setTheme(theme: Theme): void } {
  const t = useT();
  const signedIn = useSignedIn();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const taken = useSyncExternalStore(
    () => () => {},
    () => true,
    () => false,
  );
  return {
    // Prerendered markup has no chosen theme, and hydration must begin with the same.
    theme: !taken || colorScheme === 'auto' ? 'system' : colorScheme,
    setTheme: (theme) => {
      setColorScheme(SCHEME[theme]);
      if (signedIn) void save({ theme }, t('The theme could not be saved to your account'));
    },
  };
}

export function useLanguage(): { language: Language; setLanguage(language: Language): void } {
  const t = useT();
  const signedIn = useSignedIn();
  return {
    language: currentLanguage(),
    setLanguage: (language) => {
      void chooseLanguage(language);
      if (signedIn) void save({ language }, t('The language could not be saved to your account'));
    },
  };
}

/** Applies the preferences of the profile, unless others were chosen in this browser. */
export function useSavedPreferences(state: UserState): void {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const language = state.is === 'signed-in' ? state.user.profile.language : null;
  const theme = state.is === 'signed-in' ? state.user.profile.theme : 'system';
  // biome-ignore lint/correctness/useExhaustiveDependencies: once a profile is read, not again at each local choice
  useEffect(() => {
    if (language && !hasChosenLanguage()) void chooseLanguage(language);
    if (theme !== 'system' && colorScheme === 'auto') setColorScheme(SCHEME[theme]);
  }, [language, theme]);
}

/** Saves to the profile. The choice already holds in this browser, so a failure is only a toast. */
async function save(change: { theme?: Theme; language?: Language }, failure: string): Promise<void> {
  try {
    setProfile((await call(api.user.edit, change, { quiet: true })).userProfile);
  } catch (cause) {
    console.warn(failure, cause);
    toast.info(failure);
  }
}
