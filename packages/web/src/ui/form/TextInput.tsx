import { TextInput as MantineTextInput } from '@mantine/core';
import type { ComponentProps } from 'react';
import { useT } from '../../i18n/i18n.ts';
import type { INPUT_SIZES } from '../kitConstants.ts';
import { mantineSize } from './controlSizes.ts';
import { useFieldError } from './Form.tsx';
import { labelOf, type Named } from './FormItem.tsx';
import { maskCaret, maskText } from './mask.ts';

export type InputSize = (typeof INPUT_SIZES)[number];
/** `maxLength` would cut what is typed or pasted without a word: see `limit`. */
type Mantine = Omit<ComponentProps<typeof MantineTextInput>, 'label' | 'aria-label' | 'size' | 'maxLength'>;

export type TextInputProps = Mantine &
  Named & {
    optional?: boolean;
    size?: InputSize;
    /** `#` is a digit: `##/##/####`. The value is the masked text. */
    mask?: string;
    /** How many characters are allowed. More can be typed, and are counted in an error; the form refuses them. */
    limit?: number;
    /** What is typed turns to lower case. */
    lowercase?: boolean;
  };

export function TextInput(props: TextInputProps) {
  const { label, optional, size = 's', mask, limit, lowercase, error, onChange, ...rest } = props;
  const t = useT();
  const typed = String(rest.value ?? '').trim().length;
  const tooLong =
    limit !== undefined && typed > limit ? t('{{typed}} of at most {{limit}} characters', { typed, limit }) : undefined;
  return (
    <MantineTextInput
      inputMode={mask ? 'numeric' : undefined}
      autoComplete={mask ? 'off' : undefined}
      {...rest}
      size={mantineSize(size)}
      label={labelOf(label, optional)}
      error={useFieldError(rest.name, error) ?? tooLong}
      onChange={(event) => {
        const input = event.currentTarget;
        const { value } = input;
        const caret = input.selectionStart ?? value.length;
        if (mask) rewrite(input, maskText(mask, value), maskCaret(mask, value, caret));
        if (lowercase) rewrite(input, input.value.toLowerCase(), caret);
        onChange?.(event);
      }}
    />
  );
}

/** Leaves the cursor where it was: setting the value would take it to the end. */
function rewrite(input: HTMLInputElement, text: string, caret: number): void {
  if (input.value === text) return;
  input.value = text;
  if (input.selectionStart !== null) input.setSelectionRange(caret, caret);
}
