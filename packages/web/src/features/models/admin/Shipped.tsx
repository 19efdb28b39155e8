import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import classes from './Entry.module.css';
import type { EntryFormProps } from './entryFormProps.ts';

interface Props extends EntryFormProps {
  /** Of a text in the form: `mla.kvLoraRank`. */
  path: string;
  label: string;
  /** How a value is shown. */
  show?(value: string): string;
}

/** Below a field that differs from the shipped entry: what was shipped, and the way back. */
export function Shipped({ calls: { form }, shipped, path, label, show = (value) => value }: Props) {
  const t = useT();
  const was = shipped && textAt(shipped, path);
  if (was === null || was === textAt(form.values, path)) return null;
  return (
    <div className={classes.shipped}>
      {was === '' ? t('Shipped without') : t('Shipped: {{value}}', { value: show(was) })}
      <Button
        look="quiet"
        color="gray"
        size="xxxs"
        aria-label={t('Reset {{field}}', { field: label })}
        onClick={() => form.setFieldValue(path, was as never)}
      >
        {t('Reset')}
      </Button>
    </div>
  );
}

function textAt(values: object, path: string): string {
  let found: unknown = values;
  for (const part of path.split('.')) found = (found as Record<string, unknown> | undefined)?.[part];
  return typeof found === 'string' ? found : '';
}
