import { Input } from '@mantine/core';
import { type ReactElement, type ReactNode, useId } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { useFieldError } from './Form.tsx';
import classes from './FormItem.module.css';

/** Every control has an accessible name: its label, or `aria-label` where its place says enough to sighted people. */
export type Named =
  | { label: string | ReactElement; 'aria-label'?: undefined }
  | { label?: undefined; 'aria-label': string };

/** The attributes that tie a control to its label, hint and error. */
export interface ControlAttributes {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

interface Props {
  label: string;
  /** Says beside the label that the field may stay empty. */
  optional?: boolean;
  description?: ReactNode;
  error?: ReactNode;
  /** Finds the error of the form by this name. */
  name?: string;
  /** Several controls under one label. */
  group?: 'group' | 'radiogroup';
  className?: string;
  children: ReactNode | ((attributes: ControlAttributes) => ReactNode);
}

/** A control with its label, its hint and its error below. Inputs that bear a label of their own need none. */
export function FormItem({ label, optional, description, error: own, name, group, className, children }: Props) {
  const id = useId();
  const error = useFieldError(name, own);
  const attributes: ControlAttributes = {
    id,
    'aria-describedby':
      [error ? `${id}-error` : '', description ? `${id}-description` : ''].filter(Boolean).join(' ') || undefined,
    'aria-invalid': error ? true : undefined,
  };
  const content = typeof children === 'function' ? children(attributes) : children;
  return (
    <Input.Wrapper
      id={id}
      label={<Label text={label} optional={optional} />}
      labelElement={group ? 'div' : 'label'}
      description={description}
      error={error}
      errorProps={{ mt: 6 }}
      className={className}
      classNames={{ label: classes.label }}
    >
      {group ? (
        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: the invalid state of a group is read out with its error
        <div
          role={group}
          aria-labelledby={`${id}-label`}
          aria-describedby={attributes['aria-describedby']}
          aria-invalid={attributes['aria-invalid']}
          className={classes.group}
        >
          {content}
        </div>
      ) : (
        content
      )}
    </Input.Wrapper>
  );
}

function Label({ text, optional }: { text: ReactNode; optional?: boolean }) {
  const t = useT();
  return (
    <>
      {text}
      {optional && <span className={classes.optional}> {t('optional')}</span>}
    </>
  );
}

/** For inputs of Mantine, which draw their label themselves. */
export function labelOf(label: ReactNode, optional: boolean | undefined): ReactNode {
  return label === undefined ? undefined : <Label text={label} optional={optional} />;
}
