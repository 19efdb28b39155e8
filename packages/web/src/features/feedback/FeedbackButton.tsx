import { IconMessage2 } from '@tabler/icons-react';
import { Suspense, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useUserState } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyPart } from '../../ui/parts.ts';
import classes from './Feedback.module.css';
import { FeedbackMenu } from './FeedbackMenu.tsx';

const loadDialog = async () => (await import('./FeedbackDialog.tsx')).FeedbackDialog;
const Dialog = lazyPart(loadDialog);

type Shown = 'button' | 'menu' | 'dialog';

/** Floats over the pages of signed-in people. It opens a menu, and the menu opens the form. */
export function FeedbackButton() {
  const t = useT();
  const state = useUserState();
  const [shown, setShown] = useState<Shown>('button');
  /** Each opening begins with an empty form. */
  const [opening, setOpening] = useState(0);
  const button = useRef<HTMLButtonElement>(null);
  if (state.is !== 'here') return null;

  /** The button takes no focus while it is hidden. */
  function closeMenu(): void {
    flushSync(() => setShown('button'));
    button.current?.focus();
  }

  return (
    <div className={classes.corner} data-feedback>
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
      {shown === 'menu' && (
        <FeedbackMenu
          onClose={closeMenu}
          onOpenForm={() => {
            // What opens the form is the button: the menu is gone by the time that the focus comes back.
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
    </div>
  );
}

/** Its failure is told when the form is asked for. */
function fetchAhead(): void {
  loadDialog().catch((cause: unknown) => console.debug('The form could not be fetched ahead', cause));
}
