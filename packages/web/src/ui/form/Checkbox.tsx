import { Checkbox as MantineCheckbox } from '@mantine/core';
import type { ComponentProps } from 'react';
import { type Choice, type ChoiceFields, type Key, namedChoices } from './choices.ts';
import { FormItem } from './FormItem.tsx';
import classes from './groups.module.css';

type CheckboxProps = Omit<ComponentProps<typeof MantineCheckbox>, 'size' | 'color' | 'variant'>;

export function Checkbox(props: CheckboxProps) {
  return <MantineCheckbox classNames={{ description: classes.hint }} {...props} />;
}

interface GroupProps<O extends Choice, K extends Key> extends ChoiceFields {
  label: string;
  /** Objects may say `disabled` and `description` of themselves. */
  options: readonly O[];
  value: readonly K[];
  /** The keys in the order of the options, not of the clicks. */
  onChange(value: NoInfer<K>[]): void;
  optional?: boolean;
  description?: React.ReactNode;
  error?: React.ReactNode;
  name?: string;
  disabled?: boolean;
  /** Beside each other where there is room. */
  inline?: boolean;
}

/** Any number of a few choices, all in sight. */
export function CheckboxGroup<O extends Choice, K extends Key = string>(props: GroupProps<O, K>) {
  const { options, labelField, keyField, value, onChange, disabled, inline, ...item } = props;
  const choices = namedChoices(options, { labelField, keyField });
  const isChosen = (key: Key) => value.some((chosen) => chosen === key);

  function toggle(toggled: Key): void {
    const next = choices.filter(({ key }) => (key === toggled) !== isChosen(key));
    onChange(next.map(({ key }) => key as K));
  }

  return (
    <FormItem {...item} group="group">
      <div className={classes.choices} data-inline={inline || undefined}>
        {choices.map((choice) => (
          <Checkbox
            key={choice.key}
            name={item.name}
            value={choice.key}
            label={choice.label}
            description={choice.description}
            disabled={disabled || choice.disabled}
            checked={isChosen(choice.key)}
            onChange={() => toggle(choice.key)}
          />
        ))}
      </div>
    </FormItem>
  );
}
