import classes from './CodeField.module.css';
import { TextInput, type TextInputProps } from './TextInput.tsx';

interface Props {
  /** 8 in mails, 6 in apps. */
  digits?: number;
  sendsItself?: boolean;
}

/** One field for the whole code: it can be pasted, filled in by the browser, and read aloud as one. Sends itself when full, unless its form holds more. */
export function CodeField({ onChange, digits = 8, sendsItself = true, ...props }: TextInputProps & Props) {
  return (
    <TextInput
      inputMode="numeric"
      autoComplete="one-time-code"
      placeholder={'0'.repeat(digits)}
      autoFocus
      classNames={{ input: classes.code }}
      {...props}
      onChange={(event) => {
        const { currentTarget } = event;
        const before = String(props.value ?? '');
        currentTarget.value = currentTarget.value.replace(/\D/g, '').slice(0, digits);
        const full = currentTarget.value.length === digits && currentTarget.value !== before;
        onChange?.(event);
        if (full && sendsItself) requestAnimationFrame(() => currentTarget.form?.requestSubmit());
      }}
    />
  );
}
