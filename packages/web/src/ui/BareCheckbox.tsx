import type { ChangeEvent } from 'react';
import classes from './BareCheckbox.module.css';

interface Props {
  /** The accessible name, as there is no visible label. */
  label: string;
  checked: boolean;
  /** Some of what it stands for is ticked. */
  indeterminate?: boolean;
  disabled?: boolean;
  onChange(event: ChangeEvent<HTMLInputElement>): void;
}

/** A checkbox without a visible label, for lists: in each row the form's checkbox would be most of the render cost. */
export function BareCheckbox({ label, checked, indeterminate = false, disabled = false, onChange }: Props) {
  return (
    <span className={classes.box}>
      <input
        ref={(input) => {
          if (input) input.indeterminate = indeterminate;
        }}
        type="checkbox"
        className={classes.input}
        aria-label={label}
        checked={checked}
        disabled={disabled}
        onChange={onChange}
      />
      <svg className={classes.mark} viewBox={indeterminate ? '0 0 32 6' : '0 0 10 7'} aria-hidden="true">
        {indeterminate ? (
          <rect width="32" height="6" rx="3" fill="currentColor" />
        ) : (
          <path d={TICK} fill="currentColor" />
        )}
      </svg>
    </span>
  );
}

const TICK = 'M4 4.586L1.707 2.293A1 1 0 1 0 .293 3.707l3 3a.997.997 0 0 0 1.414 0l5-5A1 1 0 1 0 8.293.293L4 4.586z';
