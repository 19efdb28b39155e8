import { Menu } from '@mantine/core';
import { LANGUAGES, LOCALE } from '@stagi/contract/languages.ts';
import { IconCheck, IconChevronDown, IconLanguage } from '@tabler/icons-react';
import { useT } from '../i18n/i18n.ts';
import { LANGUAGE_NAME } from '../i18n/locale.ts';
import classes from './PreferenceControls.module.css';
import { useLanguage } from './preferences.ts';

/** The language as a menu, where there is less room. */
export function LanguageMenu({ fullWidth = false }: { fullWidth?: boolean }) {
  const t = useT();
  const { language, setLanguage } = useLanguage();
  return (
    <Menu withinPortal={false} position="top-end" width={160}>
      <Menu.Target>
        <button
          type="button"
          className={classes.language}
          data-wide={fullWidth || undefined}
          aria-label={`${t('Language')}: ${LANGUAGE_NAME[language]}`}
          data-testid="language-switch"
        >
          <IconLanguage size={16} />
          <span>{LANGUAGE_NAME[language]}</span>
          <IconChevronDown size={14} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {LANGUAGES.map((key) => (
          <Menu.Item
            key={key}
            lang={LOCALE[key]}
            data-testid={`language-${key}`}
            aria-current={key === language || undefined}
            rightSection={key === language ? <IconCheck size={14} /> : null}
            onClick={() => setLanguage(key)}
          >
            {LANGUAGE_NAME[key]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
