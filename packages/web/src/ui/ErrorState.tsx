import { IconAlertTriangle } from '@tabler/icons-react';
import { useT } from '../i18n/i18n.ts';
import { Button } from './Button.tsx';
import classes from './EmptyState.module.css';

interface Props {
  title?: string;
  /** What happened, in the person's language. */
  message: string;
  onRetry?: () => void;
  retrying?: boolean;
}

/** Something could not be loaded: what happened, and a button to try again. */
export function ErrorState({ title, message, onRetry, retrying = false }: Props) {
  const t = useT();
  return (
    <div className={classes.state} role="alert">
      <div className={classes.icon} data-tone="bad">
        <IconAlertTriangle size={20} />
      </div>
      <p className={classes.title}>{title ?? t('This could not be loaded')}</p>
      <div className={classes.text}>{message}</div>
      {onRetry && (
        <div className={classes.action}>
          <Button color="gray" onClick={onRetry} loading={retrying}>
            {t('Try again')}
          </Button>
        </div>
      )}
    </div>
  );
}
