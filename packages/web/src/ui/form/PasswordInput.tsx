import { PasswordInput as MantinePasswordInput } from '@mantine/core';
import type { ComponentProps } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { mantineSize } from './controlSizes.ts';
import { useFieldError } from './Form.tsx';
import { labelOf, type Named } from './FormItem.tsx';
import type { InputSize } from './TextInput.tsx';

type Mantine = Omit<ComponentProps<typeof MantinePasswordInput>, 'label' | 'aria-label' | 'size'>;
export type PasswordInputProps = Mantine & Named & { optional?: boolean; size?: InputSize };

/** Hidden as typed, with a button that shows it. */
export function PasswordInput({ label, optional, size = 's', error, ...rest }: PasswordInputProps) {
  const t = useT();
  const shownError = useFieldError(rest.name, error);
  return (
    <MantinePasswordInput
      spellCheck={false}
      autoCapitalize="none"
      {...rest}
      size={mantineSize(size)}
      label={labelOf(label, optional)}
      error={shownError}
      // The library marks other inputs so, but not this one.
      aria-invalid={shownError ? true : undefined}
      visibilityToggleFocusable
      visibilityToggleButtonProps={{ 'aria-label': t('Show the password') }}
    />
  );
}
