import { Menu, SegmentedControl } from '@mantine/core';
import { LOCALE } from '@stagi/contract/languages.ts';
import type { Theme } from '@stagi/contract/user.ts';
import { LANGUAGES } from '@stagi/contract/user.ts';
import { IconCheck, IconChevronDown, IconDeviceDesktop, IconLanguage, IconMoon, IconSun } from '@tabler/icons-react';
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

/** Each language in its own words. */
export function LanguageChoice({ fullWidth = false }: { fullWidth?: boolean }) {
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
