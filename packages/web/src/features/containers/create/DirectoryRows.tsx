import { areRootsOpen, OWN_VOLUME_ROOT } from '@stagi/contract/policy.ts';
import { useT } from '../../../i18n/i18n.ts';
import classes from '../../../launchForm/LaunchForm.module.css';
import { RepeatedRows } from '../../../launchForm/RepeatedRows.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import type { ContainerFormProps } from './containerForm.ts';
import { newRow } from './formValues.ts';

interface Props extends ContainerFormProps {
  /** Below which directories of the server they may lie. */
  roots: readonly string[];
}

export function DirectoryRows({ form, field, roots }: Props) {
  const t = useT();
  const isAnywhere = areRootsOpen(roots);
  const root = isAnywhere ? OWN_VOLUME_ROOT : (roots[0] ?? OWN_VOLUME_ROOT);
  return (
    <RepeatedRows
      label={t('Volumes')}
      hint={
        isAnywhere
          ? t('A directory on the server, mounted in the container. Kept when the container is deleted')
          : t(
              'A directory on the server, inside {{root}}, mounted in the container. Kept when the container is deleted',
              { root: roots.join(', ') },
            )
      }
      addLabel={t('Add a volume')}
      rows={form.values.directoryMappings}
      onAdd={() => form.insertListItem('directoryMappings', newRow.directory())}
      onRemove={(index) => form.removeListItem('directoryMappings', index)}
      error={field('directoryMappings').error}
      testId="add-volume"
    >
      {(index) => (
        <>
          <TextInput
            aria-label={t('Host directory')}
            placeholder={`${root}/models`}
            spellCheck={false}
            classNames={{ input: 'mono' }}
            {...field(`directoryMappings.${index}.host`)}
          />
          <div className={classes.ownLine}>
            <TextInput
              aria-label={t('Container directory')}
              placeholder="/models"
              spellCheck={false}
              classNames={{ input: 'mono' }}
              {...field(`directoryMappings.${index}.container`)}
            />
          </div>
        </>
      )}
    </RepeatedRows>
  );
}
