import { CURRENCY } from '@stagi/contract/brand.ts';
import type { FieldProps } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Select } from '../../../ui/form/Select.tsx';
import { formatAmount, formatNumber } from '../../../ui/format.ts';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import classes from './TaskForm.module.css';
import type { TaskServer } from './taskOffer.ts';

/** The attached servers of the project. Those that take no tasks are listed with the reason. */
export function ServerSelect({ servers, ...bound }: FieldProps & { servers: readonly TaskServer[] }) {
  const t = useT();
  const chosen = servers.find(({ id }) => String(id) === bound.value);
  const options = (['rented', 'self-hosted'] as const).flatMap((kind) =>
    servers
      .filter((server) => server.kind === kind)
      .map((server) => ({
        server,
        value: String(server.id),
        label: server.title,
        group: kind === 'rented' ? t('Rented') : t('Self-hosted'),
        disabled: server.refusal !== null,
      })),
  );
  return (
    <Select
      label={t('Server')}
      options={options}
      renderOption={({ server }) => <Option server={server} />}
      data-testid="task-server"
      {...bound}
      onChange={(id: string | null) => bound.onChange(id ?? '')}
      error={bound.error ?? (chosen?.refusal ? t(chosen.refusal) : undefined)}
    />
  );
}

function Option({ server }: { server: TaskServer }) {
  const t = useT();
  return (
    <span className={classes.option}>
      <span className={classes.optionTitle}>{server.title}</span>
      <span className={classes.optionFacts}>
        {server.refusal !== null ? t(server.refusal) : <Facts server={server} />}
      </span>
    </span>
  );
}

function Facts({ server }: { server: TaskServer }) {
  const t = useT();
  const { cpus, gpus, freeCpus, freeGpus, waiting, status, kind, pricePerHour } = server;
  return (
    <>
      {status !== 'online' && <StatusBadge status={status} />}
      {cpus !== null && (
        <span>{t('CPUs free: {{free}} of {{all}}', { free: formatNumber(freeCpus), all: formatNumber(cpus) })}</span>
      )}
      {gpus.length > 0 && <span>{t('GPUs free: {{free}} of {{all}}', { free: freeGpus, all: gpus.length })}</span>}
      {waiting > 0 && <span>{t('{{count}} tasks waiting', { count: waiting })}</span>}
      <span>
        {kind === 'self-hosted'
          ? t('no charge')
          : `${formatAmount(pricePerHour.STAGI.decimalValue)} ${CURRENCY}/${t('h')}`}
      </span>
    </>
  );
}
