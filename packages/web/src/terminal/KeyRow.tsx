import { IconArrowDown, IconArrowLeft, IconArrowRight, IconArrowUp, IconClipboard } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import classes from './Terminal.module.css';

interface Props {
  /** The next key is pressed with Ctrl. */
  control: boolean;
  onControl(control: boolean): void;
  onKey(keys: string): void;
  /** Whether the program asked for the other codes of arrows. */
  isApplication(): boolean;
  onPaste(): void;
}

/** The keys that keyboards of phones lack. */
export function KeyRow({ control, onControl, onKey, isApplication, onPaste }: Props) {
  const t = useT();
  const arrow = (code: string) => () => onKey(`\x1b${isApplication() ? 'O' : '['}${code}`);
  return (
    <div className={classes.keys} role="toolbar" aria-label={t('Keys')} data-testid="terminal-keys">
      {key('Esc', 'Esc', () => onKey('\x1b'))}
      {key('Tab', 'Tab', () => onKey('\t'))}
      <button
        type="button"
        className={classes.key}
        aria-pressed={control}
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => onControl(!control)}
      >
        Ctrl
      </button>
      {key(t('Left'), <IconArrowLeft size={16} />, arrow('D'))}
      {key(t('Up'), <IconArrowUp size={16} />, arrow('A'))}
      {key(t('Down'), <IconArrowDown size={16} />, arrow('B'))}
      {key(t('Right'), <IconArrowRight size={16} />, arrow('C'))}
      {key(t('Paste'), <IconClipboard size={16} />, onPaste)}
    </div>
  );

  function key(name: string, sign: ReactNode, press: () => void) {
    return (
      <button
        type="button"
        className={classes.key}
        aria-label={name}
        // The keyboard of the phone stays open.
        onPointerDown={(event) => event.preventDefault()}
        onClick={press}
      >
        {sign}
      </button>
    );
  }
}
