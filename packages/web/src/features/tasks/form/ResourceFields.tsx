import { useT } from '../../../i18n/i18n.ts';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { Slider } from '../../../ui/form/Slider.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { serverOf, type TaskFormProps, type TaskServer } from './taskOffer.ts';

const CPU_STEP = 0.5;

/** CPUs and GPUs of a task. It may ask for more than is free, as it waits then, but not for more than there is. */
export function ResourceFields({ form, field, offer }: TaskFormProps) {
  const server = serverOf(offer, form.values);
  const hasGpus = server === undefined || server.gpus.length > 0 || Number(form.values.gpuCount) > 0;
  return (
    <>
      <Cpus server={server} form={form} field={field} />
      {hasGpus && <Gpus server={server} field={field} />}
    </>
  );
}

type CpuProps = Pick<TaskFormProps, 'form' | 'field'> & { server: TaskServer | undefined };

function Cpus({ server, form, field }: CpuProps) {
  const t = useT();
  const { error, ...bound } = field('cpus');
  const box = {
    step: CPU_STEP,
    decimalScale: 1,
    clampBehavior: 'none',
    ...bound,
    'data-testid': 'task-cpus',
  } as const;
  if (!server || server.cpus === null)
    return <NumberInput label={t('CPU')} description={t('CPU cores, fractions allowed')} {...box} error={error} />;
  const { cpus, freeCpus } = server;
  return (
    <Slider
      label={t('CPU')}
      labels={['', t('CPU')]}
      float
      min={Math.min(CPU_STEP, cpus)}
      max={Math.max(cpus, CPU_STEP * 2)}
      step={CPU_STEP}
      value={Number(form.values.cpus) || 0}
      onChange={(next) => form.setFieldValue('cpus', next)}
      description={t('CPUs free: {{free}} of {{all}}', {
        free: formatNumber(freeCpus),
        all: formatNumber(cpus),
      })}
      error={error}
      beside={<NumberInput aria-label={t('CPU')} w={112} {...box} error={error !== undefined && error !== null} />}
    />
  );
}

function Gpus({ server, field }: { server: TaskServer | undefined; field: TaskFormProps['field'] }) {
  const t = useT();
  return (
    <NumberInput
      label={t('GPU')}
      description={
        server
          ? t('GPUs free: {{free}} of {{all}}', { free: server.freeGpus, all: server.gpus.length })
          : t('How many it gets for itself')
      }
      clampBehavior="none"
      allowDecimal={false}
      {...field('gpuCount')}
      data-testid="task-gpus"
    />
  );
}

/** What the server would refuse: more than the server has at all. */
export function resourceProblems(
  server: TaskServer | undefined,
  wanted: { cpus: number | string; gpuCount: number | string },
): { cpus?: number; gpus?: number } {
  if (!server) return {};
  return {
    ...(server.cpus !== null && Number(wanted.cpus) > server.cpus && { cpus: server.cpus }),
    ...(server.cpus !== null && Number(wanted.gpuCount) > server.gpus.length && { gpus: server.gpus.length }),
  };
}
