import { Checkbox, NumberInput, PasswordInput, Select, Textarea, TextInput } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import classes from './FormField.module.css';
import { NUMBER_STEP, SELECT_MAX_HEIGHT_PX, SELECT_OPTION_LIMIT, SELECT_SEARCH_ABOVE } from './kitConstants.ts';

/** Thin wrappers: the product's labels, hints and errors around Mantine's inputs. `optional` says so beside the label. */
type Own<P> = Omit<P, 'label'> & { label: string; optional?: boolean };

export function TextField({ label, optional, ...props }: Own<ComponentProps<typeof TextInput>>) {
  return <TextInput {...props} label={<Label text={label} optional={optional} />} />;
}

/** A Unique ID: lowercased as typed, in mono, without the browser's help. */
export function SlugField({ onChange, ...props }: Own<ComponentProps<typeof TextInput>>) {
  return (
    <TextField
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="none"
      classNames={{ input: 'mono' }}
      {...props}
      onChange={(event) => {
        event.currentTarget.value = event.currentTarget.value.toLowerCase();
        onChange?.(event);
      }}
    />
  );
}

export function PasswordField({ label, optional, ...props }: Own<ComponentProps<typeof PasswordInput>>) {
  const t = useT();
  return (
    <PasswordInput
      {...props}
      label={<Label text={label} optional={optional} />}
      visibilityToggleButtonProps={{ 'aria-label': t('Show or hide the password'), tabIndex: 0 }}
    />
  );
}

export function NumberField({ label, optional, ...props }: Own<ComponentProps<typeof NumberInput>>) {
  return (
    <NumberInput
      allowNegative={false}
      step={NUMBER_STEP}
      {...props}
      label={<Label text={label} optional={optional} />}
    />
  );
}

export function TextareaField({ label, optional, ...props }: Own<ComponentProps<typeof Textarea>>) {
  return <Textarea autosize minRows={4} maxRows={16} {...props} label={<Label text={label} optional={optional} />} />;
}

export function SelectField({ label, optional, data, ...props }: Own<ComponentProps<typeof Select>>) {
  const t = useT();
  const many = (data?.length ?? 0) > SELECT_SEARCH_ABOVE;
  return (
    <Select
      data={data}
      searchable={many}
      limit={SELECT_OPTION_LIMIT}
      maxDropdownHeight={SELECT_MAX_HEIGHT_PX}
      placeholder={t('Not chosen')}
      nothingFoundMessage={(data?.length ?? 0) === 0 ? t('List is empty') : t('No matches')}
      allowDeselect={false}
      {...props}
      label={<Label text={label} optional={optional} />}
    />
  );
}

export function CheckField(props: ComponentProps<typeof Checkbox>) {
  return <Checkbox {...props} />;
}

/** Several inputs under one heading, such as the port mappings of a container. */
export function FieldGroup({ label, hint, children }: { label: string; hint?: string; children: ReactNode }) {
  return (
    <fieldset className={classes.group}>
      <legend className={classes.legend}>{label}</legend>
      {hint && <p className={classes.hint}>{hint}</p>}
      {children}
    </fieldset>
  );
}

function Label({ text, optional }: { text: string; optional?: boolean }) {
  const t = useT();
  return (
    <>
      {text}
      {optional && <span className={classes.optional}> {t('optional')}</span>}
    </>
  );
}
