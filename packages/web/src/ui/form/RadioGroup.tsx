import { Radio } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import { type Choice, type ChoiceFields, type Key, namedChoices } from './choices.ts';
import { FormItem } from './FormItem.tsx';
import classes from './groups.module.css';

interface Props<O extends Choice, K extends Key> extends ChoiceFields {
  label: string;
  /** Objects may say `disabled` and `description` of themselves. */
  options: readonly O[];
  value: K | null | undefined;
  onChange(value: NoInfer<K>): void;
  /** `filled`: each choice in a box of its own. */
  variant?: 'default' | 'filled';
  optional?: boolean;
  description?: ReactNode;
  error?: ReactNode;
  name?: string;
  disabled?: boolean;
  /** Beside each other where there is room. */
  inline?: boolean;
}

const BOX = { root: classes.box, body: classes.boxBody, labelWrapper: classes.boxLabel };

/** One of a few choices, all in sight; the arrow keys go through them. */
export function RadioGroup<O extends Choice, K extends Key = string>(props: Props<O, K>) {
  const { options, labelField, keyField, value, onChange, variant = 'default', disabled, inline, ...item } = props;
  const own = useId();
  return (
    <FormItem {...item} group="radiogroup">
      <div className={classes.choices} data-variant={variant} data-inline={inline || undefined}>
        {namedChoices(options, { labelField, keyField }).map((choice) => (
          <Radio
            key={choice.key}
            name={item.name ?? own}
            value={choice.key}
            label={choice.label}
            description={choice.description}
            disabled={disabled || choice.disabled}
            checked={choice.key === value}
            onChange={() => onChange(choice.key as K)}
            classNames={{ description: classes.hint, ...(variant === 'filled' && BOX) }}
          />
        ))}
      </div>
    </FormItem>
  );
}
