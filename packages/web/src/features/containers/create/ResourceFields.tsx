import { api } from '@stagi/contract/api.ts';
import { DEFAULT_SHM_MB } from '@stagi/contract/containerFields.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { text } from '@stagi/contract/text.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../../api/query.ts';
import type { Server } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import classes from '../../../launchForm/LaunchForm.module.css';
import { CheckboxGroup } from '../../../ui/form/Checkbox.tsx';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { formatBytes } from '../../../ui/format.ts';
import type { ContainerFormProps } from './containerForm.ts';
import { NO_GPU, type Values } from './formValues.ts';

const NO_CPUS = text('No available CPUs to create a container');

interface Props extends ContainerFormProps {
  server: Server | undefined;
  /** The container that is edited: its resources are free for it. */
  edited: Container | undefined;
}

export function ResourceFields({ server, form, field, edited }: Props) {
  const t = useT();
  const free = freeCpus(server, edited);
  const cpus = field('cpus');
  const full = free !== null && free <= 0;
  return (
    <>
      <div className={classes.pair}>
        <NumberInput
          label={t('CPU')}
          description={
            free === null
              ? t('CPU cores, fractions allowed')
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
              ? t('Leave empty for no limit. The server has {{size}}', { size: formatBytes(server.facts.ramBytes) })
              : t('Leave empty for no limit')
          }
          step={0.5}
          decimalScale={3}
          clampBehavior="none"
          {...field('memoryGb')}
        />
      </div>
      <NumberInput
        label={t('Shared memory, MB')}
        optional
        description={t('Size of /dev/shm. Leave empty for {{size}} MB', { size: DEFAULT_SHM_MB })}
        placeholder={String(DEFAULT_SHM_MB)}
        step={256}
        allowDecimal={false}
        clampBehavior="none"
        {...field('shmMb')}
      />
      {server?.facts && server.facts.gpus.length > 0 && (
        <GpuBoxes server={server} gpus={server.facts.gpus} form={form} field={field} edited={edited} />
      )}
    </>
  );
}

/** A container whose creation failed holds none. */
function freeCpus(server: Server | undefined, edited: Container | undefined): number | null {
  if (!server || server.freeCpus === null) return null;
  const frees = edited?.instance.id === server.id && edited.status !== 'creation failed';
  return frees ? Math.round((server.freeCpus + edited.cpus) * 10) / 10 : server.freeCpus;
}

type Gpus = NonNullable<Server['facts']>['gpus'];

/** A GPU is assigned to one container as a whole. Nothing is chosen beforehand: "None" is a choice too. */
function GpuBoxes({ server, gpus, form, field, edited }: Props & { server: Server; gpus: Gpus }) {
  const t = useT();
  const { data } = useQuery(
    q(api.containers.list, { instanceRef: { id: server.id }, entityFilterRequest: { limit: 100 } }, { quiet: true }),
  );
  const holders = new Map(
    (data?.entities ?? [])
      .filter(({ id, status }) => status !== 'creation failed' && id !== edited?.id)
      .flatMap((container) => container.gpuIds.map((gpu) => [gpu, container.title] as const)),
  );
  return (
    <CheckboxGroup
      label={t('GPU')}
      description={t('Each belongs to one container at a time')}
      options={[
        { value: NO_GPU, label: t('None') },
        ...gpus.map(({ index, name, memoryMb }) => {
          const holder = holders.get(index);
          return {
            value: index,
            label: `#${index} ${name} · ${formatBytes(memoryMb * 2 ** 20)}`,
            description: holder === undefined ? undefined : t('In use by “{{title}}”', { title: holder }),
            disabled: holder !== undefined,
          };
        }),
      ]}
      value={form.values.gpuIds}
      onChange={choose}
      error={field('gpuIds').error}
    />
  );

  /** "None" and GPUs take each other away. */
  function choose(chosen: Values['gpuIds']): void {
    const isNoneNew = chosen.includes(NO_GPU) && !form.values.gpuIds.includes(NO_GPU);
    form.setFieldValue('gpuIds', isNoneNew ? [NO_GPU] : chosen.filter((gpu) => chosen.length === 1 || gpu !== NO_GPU));
  }
}
