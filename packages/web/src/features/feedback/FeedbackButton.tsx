import { IconMessage2 } from '@tabler/icons-react';
import { Suspense, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useUserState } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { Tooltip } from '../../ui/Tooltip.tsx';
import classes from './Feedback.module.css';
import { FeedbackMenu } from './FeedbackMenu.tsx';

const loadDialog = async () => (await import('./FeedbackDialog.tsx')).FeedbackDialog;
const Dialog = lazyComponent(loadDialog);

type Shown = 'button' | 'menu' | 'dialog';

/** The button of signed-in people; the layout gives it its place. It opens a menu, and the menu opens the form. */
export function FeedbackButton() {
  const t = useT();
  const state = useUserState();
  const [shown, setShown] = useState<Shown>('button');
  /** Each opening begins with an empty form. */
  const [opening, setOpening] = useState(0);
  const button = useRef<HTMLButtonElement>(null);
  if (state.is !== 'signed-in') return null;

  /** The button takes no focus while it is hidden. */
  function closeMenu(): void {
    flushSync(() => setShown('button'));
    button.current?.focus();
  }

  return (
    <>
      <Tooltip label={t('Feedback')} position="left" disabled={shown !== 'button'}>
        <button
          ref={button}
          type="button"
          className={classes.button}
          hidden={shown === 'menu'}
          aria-haspopup="dialog"
          aria-expanded={shown === 'menu'}
          data-testid="feedback-button"
          onClick={() => setShown('menu')}
          onPointerEnter={fetchAhead}
        >
          <IconMessage2 size={20} aria-hidden />
          <span className={classes.word}>{t('Feedback')}</span>
        </button>
      </Tooltip>
      {shown === 'menu' && (
        <FeedbackMenu
          onClose={closeMenu}
          onOpenForm={() => {
            // The opener is the button: the menu is closed by the time that the focus returns.
            closeMenu();
            setOpening(opening + 1);
            setShown('dialog');
          }}
        />
      )}
      {opening > 0 && (
        <Suspense>
          <Dialog key={opening} opened={shown === 'dialog'} onClose={() => setShown('button')} />
        </Suspense>
      )}
    </>
  );
}

/** A failed preload is reported when the form is opened. */
function fetchAhead(): void {
  loadDialog().catch((cause: unknown) => console.debug('The form could not be fetched ahead', cause));
}
