import { keylessEngine } from '@stagi/contract/keylessEngine.ts';
import { useT } from '../../../i18n/i18n.ts';
import { EngineWithoutKey } from '../../../launchForm/EngineWithoutKey.tsx';
import classes from '../../../launchForm/LaunchForm.module.css';
import { RepeatedRows } from '../../../launchForm/RepeatedRows.tsx';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import type { ContainerFormProps } from './containerForm.ts';
import { newRow } from './formValues.ts';

export function PortRows({ form, field }: ContainerFormProps) {
  const t = useT();
  const { dockerImage, command, env } = form.values;
  const launched = { dockerImage, command, variables: env.map(({ name }) => name.trim()) };
  return (
    <RepeatedRows
      label={t('Ports')}
      hint={t(
        'A server port, 1000 to 9999, forwarded to a port in the container. A private port opens for members who may view the container, a public one for everybody.',
      )}
      addLabel={t('Add a port')}
      rows={form.values.portMappings}
      onAdd={() => form.insertListItem('portMappings', newRow.port())}
      onRemove={(index) => form.removeListItem('portMappings', index)}
      error={field('portMappings').error}
      testId="add-port"
      beneath={(index) =>
        form.values.portMappings[index]?.visibility === 'public' && (
          <EngineWithoutKey engine={keylessEngine(Number(form.values.portMappings[index].container), launched)} />
        )
      }
    >
      {(index) => (
        <>
          <NumberInput
            aria-label={t('Host port')}
            placeholder={t('Host, such as 8080')}
            title={t('Host, such as 8080')}
            clampBehavior="none"
            allowDecimal={false}
            hideControls
            {...field(`portMappings.${index}.host`)}
          />
          <NumberInput
            aria-label={t('Container port')}
            placeholder={t('Container, such as 80')}
            title={t('Container, such as 80')}
            clampBehavior="none"
            allowDecimal={false}
            hideControls
            {...field(`portMappings.${index}.container`)}
          />
          <div className={classes.ownLine}>
            <Select
              aria-label={t('Who may open it')}
              options={[
                { value: 'private', label: t('Private') },
                { value: 'public', label: t('Public') },
              ]}
              {...field(`portMappings.${index}.visibility`)}
            />
          </div>
        </>
      )}
    </RepeatedRows>
  );
}
