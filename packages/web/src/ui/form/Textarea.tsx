import { Textarea as MantineTextarea } from '@mantine/core';
import type { ComponentProps } from 'react';
import { TEXTAREA_COLOR, type TEXTAREA_COLORS, TEXTAREA_SIZE, type TEXTAREA_SIZES } from '../kitConstants.ts';
import { useFieldError } from './Form.tsx';
import { labelOf, type Named } from './FormItem.tsx';
import classes from './Textarea.module.css';

type Mantine = Omit<ComponentProps<typeof MantineTextarea>, 'label' | 'aria-label' | 'size' | 'color' | 'classNames'>;

export type TextareaProps = Mantine &
  Named & {
    optional?: boolean;
    color?: (typeof TEXTAREA_COLORS)[number];
    size?: (typeof TEXTAREA_SIZES)[number];
    /** Commands, keys and other text of machines. */
    mono?: boolean;
  };

/** Text of several lines; it grows with what is typed. */
export function Textarea(props: TextareaProps) {
  const { label, optional, color = TEXTAREA_COLOR, size = TEXTAREA_SIZE, mono, error, ...rest } = props;
  return (
    <MantineTextarea
      autosize
      minRows={4}
      maxRows={16}
      {...rest}
      label={labelOf(label, optional)}
      error={useFieldError(rest.name, error)}
      classNames={{ root: classes.root, input: [classes.input, mono && 'mono'].filter(Boolean).join(' ') }}
      wrapperProps={{ 'data-kit-color': color, 'data-kit-size': size }}
    />
  );
}
