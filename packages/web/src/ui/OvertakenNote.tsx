import { useT } from '../i18n/i18n.ts';
import { Note } from './Note.tsx';

/** Stays in a form whose Save was refused because somebody else had saved. The toast that said so goes. */
export function OvertakenNote({ shown }: { shown: boolean }) {
  const t = useT();
  return shown ? (
    <div data-testid="overtaken">
      <Note tone="warn">
        {t('Somebody else has changed this since you opened it. To save again replaces what they entered.')}
      </Note>
    </div>
  ) : null;
}
