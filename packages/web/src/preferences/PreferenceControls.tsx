import { LANGUAGES, LOCALE } from '@stagi/contract/languages.ts';
import { text } from '@stagi/contract/text.ts';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { useId } from 'react';
import { useT } from '../i18n/i18n.ts';
import { LANGUAGE_NAME } from '../i18n/locale.ts';
import classes from './PreferenceControls.module.css';
import { useLanguage, useTheme } from './preferences.ts';

const THEMES = [
  { value: 'system', label: text('System'), Icon: IconDeviceDesktop },
  { value: 'light', label: text('Light'), Icon: IconSun },
  { value: 'dark', label: text('Dark'), Icon: IconMoon },
] as const;

export function ThemeChoice({ fullWidth = false }: { fullWidth?: boolean }) {
  const t = useT();
  const { theme, setTheme } = useTheme();
  const name = useId();
  return (
    <fieldset className={classes.themes} data-wide={fullWidth || undefined} aria-label={t('Theme')}>
      {THEMES.map(({ value, label, Icon }) => (
        <label key={value} className={classes.theme}>
          <input
            className="visually-hidden"
            type="radio"
            name={name}
            value={value}
            checked={value === theme}
            onChange={() => setTheme(value)}
          />
          <Icon size={14} aria-hidden="true" />
          {t(label)}
        </label>
      ))}
    </fieldset>
  );
}

/** A button for each language, in its own words. */
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
