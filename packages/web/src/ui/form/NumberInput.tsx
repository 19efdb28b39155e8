import { NumberInput as MantineNumberInput } from '@mantine/core';
import type { ComponentProps } from 'react';
import { NUMBER_STEP } from '../kitConstants.ts';
import { mantineSize } from './controlSizes.ts';
import { useFieldError } from './Form.tsx';
import { labelOf, type Named } from './FormItem.tsx';
import type { InputSize } from './TextInput.tsx';

type Mantine = Omit<ComponentProps<typeof MantineNumberInput<number>>, 'label' | 'aria-label' | 'size'>;
export type NumberInputProps = Mantine & Named & { optional?: boolean; size?: InputSize };

/** A number to type, or to change with the spin buttons and the arrow keys. Its value is text while it is empty. */
export function NumberInput({ label, optional, size = 's', error, ...rest }: NumberInputProps) {
  const number = rest.value === '' || rest.value === undefined ? undefined : Number(rest.value);
  return (
    <MantineNumberInput
      allowNegative={false}
      step={NUMBER_STEP}
      autoComplete="off"
      role="spinbutton"
      aria-valuenow={Number.isFinite(number) ? number : undefined}
      aria-valuemin={rest.min}
      aria-valuemax={rest.max}
      {...rest}
      size={mantineSize(size)}
      label={labelOf(label, optional)}
      error={useFieldError(rest.name, error)}
    />
  );
}
