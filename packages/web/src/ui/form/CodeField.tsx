import classes from './CodeField.module.css';
import { TextInput, type TextInputProps } from './TextInput.tsx';

const DIGITS = 8;

/** One field for the whole code: it can be pasted, filled in by the browser, and read aloud as one. Sends itself when full, unless its form holds more. */
export function CodeField({ onChange, sendsItself = true, ...props }: TextInputProps & { sendsItself?: boolean }) {
  return (
    <TextInput
      inputMode="numeric"
      autoComplete="one-time-code"
      placeholder={'0'.repeat(DIGITS)}
      autoFocus
      classNames={{ input: classes.code }}
      {...props}
      onChange={(event) => {
        const { currentTarget } = event;
        const before = String(props.value ?? '');
        currentTarget.value = currentTarget.value.replace(/\D/g, '').slice(0, DIGITS);
        const full = currentTarget.value.length === DIGITS && currentTarget.value !== before;
        onChange?.(event);
        if (full && sendsItself) requestAnimationFrame(() => currentTarget.form?.requestSubmit());
      }}
    />
  );
}
