import { Group } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { text } from '@stagi/contract/text.ts';
import { useT } from '../../i18n/i18n.ts';
import { NumberInput } from './NumberInput.tsx';
import { Select } from './Select.tsx';

const LIFETIMES = [
  { value: '1', label: text('1 day') },
  { value: '7', label: text('7 days') },
  { value: '30', label: text('30 days') },
] as const;
export type LinkDays = (typeof LIFETIMES)[number]['value'];

const DAY_MS = 86_400_000;

/** The end of a link that is made now. */
export const linkExpiry = (days: LinkDays): Date => new Date(Date.now() + Number(days) * DAY_MS);

type FieldProps = ReturnType<UseFormReturnType<Record<string, unknown>>['getInputProps']>;

interface Props {
  usesMax: number;
  field(name: 'uses' | 'days'): FieldProps;
  testId: string;
}

/** The number of people whom a link lets in, and the time until its end. */
export function LinkTerms({ usesMax, field, testId }: Props) {
  const t = useT();
  return (
    <Group gap={12} align="flex-end" grow>
      <NumberInput
        label={t('Maximum uses')}
        min={1}
        max={usesMax}
        allowDecimal={false}
        data-testid={`${testId}-uses`}
        {...field('uses')}
      />
      <Select
        label={t('Valid for')}
        options={LIFETIMES.map(({ value, label }) => ({ value, label: t(label) }))}
        data-testid={`${testId}-lifetime`}
        {...field('days')}
      />
    </Group>
  );
}
