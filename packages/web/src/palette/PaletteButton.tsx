import { UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useT } from '../i18n/i18n.ts';
import { Keys } from '../keyboard/Keys.tsx';
import { overlays } from '../keyboard/overlays.ts';
import { paletteKeys } from '../keyboard/shortcuts.ts';
import classes from './PaletteButton.module.css';

/** Opens the palette and shows its shortcut. */
export function PaletteButton({ wide = false }: { wide?: boolean }) {
  const t = useT();
  const keys = paletteKeys();
  return (
    <UnstyledButton
      className={classes.button}
      data-wide={wide || undefined}
      data-testid="open-palette"
      aria-haspopup="dialog"
      aria-keyshortcuts={keys[0] === 'Ctrl' ? 'Control+K' : 'Meta+K'}
      onClick={() => overlays.open('palette')}
    >
      <IconSearch size={16} aria-hidden="true" />
      <span className={classes.word}>{t('Find anything')}</span>
      <span className={classes.keys} aria-hidden="true">
        <Keys keys={keys} />
      </span>
    </UnstyledButton>
  );
}
