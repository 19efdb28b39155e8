import { IconFolderSearch } from '@tabler/icons-react';
import type { FieldProps } from '../../../api/useCallForm.ts';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { lazyComponent } from '../../../lazyChunks.ts';
import { TextWithPicker } from './TextWithPicker.tsx';

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
  const mayList = useHasPermission('INSTANCE_RENTED_MANAGEMENT');
  return (
    <TextWithPicker
      label={t('Input URL path')}
      description={t('One object of the storage, or a folder, which ends in /')}
      placeholder="datasets/"
      bound={bound}
      testId="task-input-url"
      button={
        mayList
          ? {
              icon: <IconFolderSearch size={16} />,
              text: t('Browse'),
              reason: storage ? null : t('Choose a storage first'),
              testId: 'task-input-browse',
            }
          : null
      }
      picker={
        storage ? (dialog) => <ObjectPicker storage={storage} startsAt={String(bound.value ?? '')} {...dialog} /> : null
      }
    />
  );
}
