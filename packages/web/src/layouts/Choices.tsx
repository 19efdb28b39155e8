import { SegmentedControl } from '@mantine/core';
import { LANGUAGES, LOCALE } from '@stagi/contract/languages.ts';
import type { Theme } from '@stagi/contract/user.ts';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import { LANGUAGE_NAME } from '../i18n/locale.ts';
import classes from './Choices.module.css';
import { useLanguage, useTheme } from './preferences.ts';

export function ThemeChoice({ fullWidth = false }: { fullWidth?: boolean }) {
  const t = useT();
  const { theme, setTheme } = useTheme();
  return (
    <SegmentedControl
      size="xs"
      withItemsBorders={false}
      classNames={{ root: classes.segments }}
      fullWidth={fullWidth}
      aria-label={t('Theme')}
      value={theme}
      onChange={(value) => setTheme(value as Theme)}
      data={[
        option('system', t('System'), <IconDeviceDesktop size={14} />),
        option('light', t('Light'), <IconSun size={14} />),
        option('dark', t('Dark'), <IconMoon size={14} />),
      ]}
    />
  );
}

function option(value: Theme, label: string, icon: ReactNode) {
  return {
    value,
    label: (
      <span className={classes.option}>
        {icon}
        {label}
      </span>
    ),
  };
}

/** Each language in its own words, one press away. */
export function LanguageLinks() {
  const t = useT();
  const { language, setLanguage } = useLanguage();
  return (
    <fieldset className={classes.languages} aria-label={t('Language')} data-testid="language-links">
      {LANGUAGES.map((key) => (
        <button
          key={key}
          type="button"
          lang={LOCALE[key]}
          className={classes.languageLink}
          aria-pressed={key === language}
          data-testid={`language-${key}`}
          onClick={() => setLanguage(key)}
        >
          {LANGUAGE_NAME[key]}
        </button>
      ))}
    </fieldset>
  );
}
