import { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { CheckboxGroup } from '../../../ui/form/Checkbox.tsx';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { formatBytes } from '../../../ui/format.ts';
import classes from './Create.module.css';
import type { ContainerFormProps } from './containerForm.ts';
import type { Server } from './useServers.ts';

const NO_CPUS = text('No available CPUs to create a container');

export function ResourceFields({ server, form, field }: ContainerFormProps & { server: Server | undefined }) {
  const t = useT();
  const free = server?.freeCpus ?? null;
  const cpus = field('cpus');
  const full = free !== null && free <= 0;
  return (
    <>
      <div className={classes.pair}>
        <NumberInput
          label={t('CPU')}
          description={
            free === null
              ? t('CPU cores, also parts of one')
              : t('{{count}} CPUs free on this server', { count: Math.max(0, free) })
          }
          step={0.5}
          decimalScale={2}
          clampBehavior="none"
          {...cpus}
          error={cpus.error ?? (full ? t(NO_CPUS) : undefined)}
        />
        <NumberInput
          label={t('Memory, GB')}
          optional
          description={
            server?.facts
              ? t('Empty: no limit. The server has {{size}}', { size: formatBytes(server.facts.ramBytes) })
              : t('Empty: no limit')
          }
          step={0.5}
          decimalScale={3}
          clampBehavior="none"
          {...field('memoryGb')}
        />
      </div>
      {server?.facts && server.facts.gpus.length > 0 && (
        <GpuBoxes server={server} gpus={server.facts.gpus} form={form} field={field} />
      )}
    </>
  );
}

type Gpus = NonNullable<Server['facts']>['gpus'];

/** A GPU is assigned to one container as a whole. */
function GpuBoxes({ server, gpus, form, field }: ContainerFormProps & { server: Server; gpus: Gpus }) {
  const t = useT();
  const { data } = useQuery(
    q(api.containers.list, { instanceRef: { id: server.id }, entityFilterRequest: { limit: 100 } }, { quiet: true }),
  );
  const holders = new Map(
    (data?.entities ?? [])
      .filter(({ status }) => status !== 'creation failed')
      .flatMap((container) => container.gpuIds.map((gpu) => [gpu, container.title] as const)),
  );
  return (
    <CheckboxGroup
      label={t('GPUs')}
      description={t('Each belongs to one container at a time')}
      options={gpus.map(({ index, name, memoryMb }) => {
        const holder = holders.get(index);
        return {
          value: index,
          label: `#${index} ${name} · ${formatBytes(memoryMb * 2 ** 20)}`,
          description: holder === undefined ? undefined : t('In use by “{{title}}”', { title: holder }),
          disabled: holder !== undefined,
        };
      })}
      value={form.values.gpuIds}
      onChange={(gpuIds) => form.setFieldValue('gpuIds', gpuIds)}
      error={field('gpuIds').error}
    />
  );
}
