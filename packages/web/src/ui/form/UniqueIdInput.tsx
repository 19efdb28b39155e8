import { TextInput, type TextInputProps } from './TextInput.tsx';

/** A Unique ID: in lower case as typed, in mono, without the browser's help. */
export function UniqueIdInput(props: TextInputProps) {
  return (
    <TextInput
      lowercase
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="none"
      classNames={{ input: 'mono' }}
      {...props}
    />
  );
}
