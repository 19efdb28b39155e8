import { type ReactNode, Suspense, useState } from 'react';
import type { FieldProps } from '../../../api/useCallForm.ts';
import { Button } from '../../../ui/Button.tsx';
import { FormItem } from '../../../ui/form/FormItem.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import classes from './TaskForm.module.css';

interface Props {
  label: string;
  description: string;
  placeholder: string;
  bound: FieldProps;
  /** Shown where the form knows no error of the field. */
  error?: string;
  testId: string;
  /** Opens the picker; null where the person's role has none. */
  button: { icon: ReactNode; text: string; reason?: string | null; testId: string } | null;
  /** Rendered from its first opening on; null while there is nothing to choose from. */
  picker: ((dialog: PickerDialog) => ReactNode) | null;
  /** Below the box. */
  children?: ReactNode;
}

interface PickerDialog {
  opened: boolean;
  onClose(): void;
  /** With what the box holds from then on. */
  onChoose(value: string): void;
}

/** A text that is typed, or chosen in a dialog that a button beside the box opens. */
export function TextWithPicker({ label, description, bound, error, testId, button, picker, children, ...box }: Props) {
  const [picking, setPicking] = useState<'never' | 'now' | 'before'>('never');
  const close = () => setPicking('before');
  return (
    <FormItem label={label} description={description} error={bound.error ?? error}>
      {(attributes) => (
        <>
          <div className={classes.withButton}>
            <TextInput
              {...attributes}
              aria-label={label}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              classNames={{ input: 'mono' }}
              {...box}
              {...bound}
              error={Boolean(attributes['aria-invalid'])}
              data-testid={testId}
            />
            {button && (
              <Button
                color="gray"
                icon={button.icon}
                className={classes.besideBox}
                reason={button.reason}
                onClick={() => setPicking('now')}
                data-testid={button.testId}
              >
                {button.text}
              </Button>
            )}
          </div>
          {children}
          {picker && picking !== 'never' && (
            <Suspense fallback={null}>
              {picker({
                opened: picking === 'now',
                onClose: close,
                onChoose(value) {
                  bound.onChange(value);
                  close();
                },
              })}
            </Suspense>
          )}
        </>
      )}
    </FormItem>
  );
}
