import { useT } from '../../../i18n/i18n.ts';
import { RepeatedRows } from '../../../launchForm/RepeatedRows.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { type Draft, fieldsOf, newFile } from './draft.ts';
import classes from './Entry.module.css';
import type { EntryFormProps } from './entryFormProps.ts';

/** Formats that files are published in, as the formulas call them. */
const PRECISIONS = [
  'bf16',
  'fp16',
  'fp32',
  'fp8',
  'int8',
  'gptq-int8',
  'awq',
  'gptq',
  'int4',
  'nvfp4',
  'mxfp4',
  'gguf',
] as const;
const isGguf = (precision: string) => /^gg(uf|ml)$/i.test(precision);

/** The published files: what can be loaded, in which quality. */
export function FileRows({ calls: { form, field }, shipped }: EntryFormProps) {
  const t = useT();
  const { precisions } = form.values;
  const others = [...new Set(precisions.map(({ precision }) => precision))].filter(
    (label) => label !== '' && !PRECISIONS.some((known) => known === label),
  );
  const isChanged = shipped !== null && filesText(shipped) !== filesText(form.values);
  return (
    <div>
      <RepeatedRows
        label={t('Published files')}
        hint={t('Repositories on the hub, each with its precision; of GGUF also the files in it: Q4_K_M, Q8_0')}
        addLabel={t('Add files')}
        rows={precisions}
        onAdd={() => form.insertListItem('precisions', newFile())}
        onRemove={(index) => form.removeListItem('precisions', index)}
        error={field('precisions').error}
        testId="add-files"
      >
        {(index) => (
          <div className={classes.line}>
            <Select
              aria-label={t('Precision')}
              placeholder={t('Precision')}
              name={`precisions.${index}.precision`}
              options={[...PRECISIONS, ...others].map((value) => ({ value: value as string, label: value }))}
              {...field(`precisions.${index}.precision`)}
              onChange={(value: string | null) => form.setFieldValue(`precisions.${index}.precision`, value ?? '')}
            />
            <TextInput
              aria-label={t('Repository')}
              placeholder={t('owner/name')}
              name={`precisions.${index}.repository`}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              {...field(`precisions.${index}.repository`)}
            />
            {isGguf(precisions[index]?.precision ?? '') && (
              <TextInput
                aria-label={t('Files in the repository')}
                placeholder="Q4_K_M, Q8_0"
                name={`precisions.${index}.variants`}
                autoComplete="off"
                spellCheck={false}
                {...field(`precisions.${index}.variants`)}
              />
            )}
          </div>
        )}
      </RepeatedRows>
      {isChanged && (
        <div className={classes.shipped}>
          {t('Shipped: {{value}}', { value: shipped.precisions.map(({ precision }) => precision).join(', ') })}
          <Button
            look="quiet"
            color="gray"
            size="xxxs"
            aria-label={t('Reset {{field}}', { field: t('Published files') })}
            onClick={() => form.setFieldValue('precisions', shipped.precisions)}
          >
            {t('Reset')}
          </Button>
        </div>
      )}
    </div>
  );
}

const filesText = (draft: Draft): string => JSON.stringify(fieldsOf(draft).precisions);
