import { useClipboard } from '@mantine/hooks';
import { type ReactNode, useEffect } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { toast } from '../../ui/toasts.ts';
import { useHydrated } from './useHydrated.ts';
import classes from './WrittenText.module.css';

interface Props {
  code: string;
  language: string | undefined;
  /** The same with its colours. */
  children: ReactNode;
}

/** A block of code with a button that copies it. Long lines are scrolled with the keyboard too. */
export function WrittenCode({ code, language, children }: Props) {
  const t = useT();
  const { copy, copied, error } = useClipboard({ timeout: 1_500 });
  const isHydrated = useHydrated();

  useEffect(() => {
    if (!error) return;
    console.warn('The clipboard is not open to this page', error);
    toast.error(t('This could not be copied. Select the text and copy it yourself.'));
  }, [error, t]);

  return (
    <div className={classes.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: as said above */}
      <pre data-language={language} tabIndex={0}>
        <code>{children}</code>
      </pre>
      {isHydrated && (
        <button type="button" className={classes.copy} onClick={() => copy(code)}>
          {copied ? t('Copied') : t('Copy')}
        </button>
      )}
    </div>
  );
}
