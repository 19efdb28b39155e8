import { RENTED_VOLUME_ROOT } from '@stagi/contract/policy.ts';
import { useT } from '../../../i18n/i18n.ts';
import { RepeatedRows } from '../../../launchForm/RepeatedRows.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import type { ContainerFormProps } from './containerForm.ts';
import { newRow } from './formValues.ts';

export function DirectoryRows({ form, field, rented }: ContainerFormProps & { rented: boolean }) {
  const t = useT();
  const root = rented ? RENTED_VOLUME_ROOT : '/srv';
  return (
    <RepeatedRows
      label={t('Volumes')}
      hint={
        rented
          ? t(
              'A directory on the server, inside {{root}}, mounted in the container. Kept when the container is deleted',
              { root },
            )
          : t('A directory on the server, mounted in the container. Kept when the container is deleted')
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
          <TextInput
            aria-label={t('Container directory')}
            placeholder="/models"
            spellCheck={false}
            classNames={{ input: 'mono' }}
            {...field(`directoryMappings.${index}.container`)}
          />
        </>
      )}
    </RepeatedRows>
  );
}
