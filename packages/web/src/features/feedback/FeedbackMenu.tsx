import { IconExternalLink, IconX } from '@tabler/icons-react';
import { useEffect, useId, useRef } from 'react';
import { site } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { IconButton } from '../../ui/IconButton.tsx';
import classes from './Feedback.module.css';

/** Replaces the button while open. Closes by its cross, by Escape, or when the form opens. */
export function FeedbackMenu({ onClose, onOpenForm }: { onClose(): void; onOpenForm(): void }) {
  const t = useT();
  const heading = useId();
  const form = useRef<HTMLButtonElement>(null);
  const { issueTrackerUrl, supportEmail } = site();
  useEffect(() => form.current?.focus(), []);

  return (
    <div
      className={classes.menu}
      role="dialog"
      aria-labelledby={heading}
      data-testid="feedback-menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      <div className={classes.menuHead}>
        <h2 id={heading} className={classes.menuTitle}>
          {t('Leave Feedback')}
        </h2>
        <IconButton size="xxs" plain label={t('Close')} onClick={onClose}>
          <IconX size={16} />
        </IconButton>
      </div>
      {issueTrackerUrl && (
        <a className={classes.way} href={issueTrackerUrl} target="_blank" rel="noreferrer">
          {t('Report an issue')}
          <IconExternalLink size={14} aria-hidden />
          <span className="visually-hidden">{t('opens in a new tab')}</span>
        </a>
      )}
      {supportEmail && (
        <a className={classes.way} href={`mailto:${supportEmail}`}>
          {supportEmail}
        </a>
      )}
      <button ref={form} type="button" className={classes.way} data-testid="feedback-open-form" onClick={onOpenForm}>
        {t('or submit feedback here')}
      </button>
    </div>
  );
}
