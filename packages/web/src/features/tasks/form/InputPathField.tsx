import { IconFolderSearch } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import type { FieldProps } from '../../../api/useCallForm.ts';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { lazyComponent } from '../../../lazyChunks.ts';
import { Button } from '../../../ui/Button.tsx';
import { FormItem } from '../../../ui/form/FormItem.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import classes from './TaskForm.module.css';

/** Fetched when it is first opened. */
const ObjectPicker = lazyComponent(async () => (await import('./ObjectPicker.tsx')).ObjectPicker);

interface Props {
  /** Undefined until one is chosen. */
  storage: { id: number; slug: string } | undefined;
  bound: FieldProps;
}

/** The key of an object or folder: typed, or picked where the person's role lists objects. */
export function InputPathField({ storage, bound }: Props) {
  const t = useT();
  const [picking, setPicking] = useState<'never' | 'now' | 'before'>('never');
  const mayList = useHasPermission('INSTANCE_RENTED_MANAGEMENT');
  return (
    <FormItem
      label={t('Input URL path')}
      description={t('One object of the storage, or a folder, which ends in /')}
      error={bound.error}
    >
      {(attributes) => (
        <div className={classes.withButton}>
          <TextInput
            {...attributes}
            aria-label={t('Input URL path')}
            placeholder="datasets/"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            classNames={{ input: 'mono' }}
            {...bound}
            error={Boolean(attributes['aria-invalid'])}
            data-testid="task-input-url"
          />
          {mayList && (
            <Button
              color="gray"
              icon={<IconFolderSearch size={16} />}
              className={classes.besideBox}
              reason={storage ? null : t('Choose a storage first')}
              onClick={() => setPicking('now')}
              data-testid="task-input-browse"
            >
              {t('Browse')}
            </Button>
          )}
          {storage && picking !== 'never' && (
            <Suspense fallback={null}>
              <ObjectPicker
                storage={storage}
                opened={picking === 'now'}
                startsAt={String(bound.value ?? '')}
                onClose={() => setPicking('before')}
                onChoose={(key) => {
                  bound.onChange(key);
                  setPicking('before');
                }}
              />
            </Suspense>
          )}
        </div>
      )}
    </FormItem>
  );
}
