import { useT } from '../../i18n/i18n.ts';
import { Button } from '../Button.tsx';
import classes from './DialogButtons.module.css';

interface Props {
  onCancel?(): void;
  /** Null: there is nothing to take back. */
  cancelLabel?: string | null;
  submitLabel?: string;
  danger?: boolean;
  disabled?: boolean;
  loading?: boolean;
  testId?: string;
}

/** The last line of a dialog's form: 'Cancel' and 'Submit', unless other words say more. */
export function DialogButtons({ onCancel, cancelLabel, submitLabel, danger, disabled, loading, testId }: Props) {
  const t = useT();
  return (
    <div className={classes.buttons}>
      {cancelLabel !== null && (
        <Button color="gray" onClick={onCancel}>
          {cancelLabel ?? t('Cancel')}
        </Button>
      )}
      <Button
        type="submit"
        color={danger ? 'danger' : 'primary'}
        disabled={disabled}
        loading={loading}
        data-testid={testId}
      >
        {submitLabel ?? t('Submit')}
      </Button>
    </div>
  );
}
