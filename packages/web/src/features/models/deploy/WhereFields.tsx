import { CURRENCY } from '@stagi/contract/brand.ts';
import type { Offer } from '@stagi/contract/hardware.ts';
import type { Gpu } from '@stagi/perf/catalogue.ts';
import type { OnServer } from '@stagi/perf/onServer.ts';
import type { CallForm } from '../../../api/useCallForm.ts';
import type { Server } from '../../../api/useServers.ts';
import type { SshKeySelectSlot } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Checkbox } from '../../../ui/form/Checkbox.tsx';
import { RadioGroup } from '../../../ui/form/RadioGroup.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { formatAmount, formatBytes } from '../../../ui/format.ts';
import { Note } from '../../../ui/Note.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import type { DeployValues } from './deployForm.ts';
import { factsOfServer, fitOn, NO_FIT_WORDS, type Wanted } from './serverFit.ts';

interface Props {
  call: CallForm<DeployValues>;
  servers: readonly Server[];
  gpus: readonly Gpu[];
  /** Those that fit, the cheapest first; null: this person may not rent. */
  offers: readonly Offer[] | null;
  /** The one of them that would be rented. */
  offer: Offer | undefined;
  wanted: Wanted | null;
  SshKeySelect: SshKeySelectSlot;
}

/** A server of the workspace, or one that is rented with the form. */
export function WhereFields({ call, servers, gpus, offers, offer, wanted, SshKeySelect }: Props) {
  const t = useT();
  const { form, field } = call;
  const { where } = form.values;
  const judged = servers.map((server) => ({ server, verdict: judge(server) }));
  const chosen = judged.find(({ server }) => String(server.id) === form.values.instanceRef);

  function judge({ status, facts }: Server): OnServer | null {
    return status === 'online' && facts && wanted ? fitOn(gpus, factsOfServer(facts), wanted) : null;
  }

  return (
    <>
      <RadioGroup
        label={t('Where')}
        inline
        variant="filled"
        value={where}
        onChange={(next: DeployValues['where']) => form.setValues({ where: next })}
        options={[
          { value: 'server', label: t('On a server of this workspace') },
          {
            value: 'rent',
            label: t('Rent the cheapest that fits'),
            disabled: offers === null,
            ...(offers === null && { description: t('You may not rent servers in this workspace') }),
          },
        ]}
      />
      {where === 'server' ? (
        <>
          <Select
            label={t('Server')}
            description={t('Only servers that the model fits can be chosen.')}
            options={judged.map(({ server, verdict }) => ({
              server,
              verdict,
              value: String(server.id),
              label: server.title,
              group: server.kind === 'rented' ? t('Rented') : t('Self-hosted'),
              disabled: !verdict || (!verdict.fits && !form.values.evenIfItDoesNotFit),
            }))}
            renderOption={({ server, verdict }) => <ServerOption server={server} verdict={verdict} />}
            data-testid="deploy-server"
            {...field('instanceRef')}
          />
          {servers.length === 0 && (
            <Note title={t('This workspace has no server yet')}>
              {t('Rent the cheapest that fits, with this form.')}
            </Note>
          )}
          {chosen?.verdict && <FitNote verdict={chosen.verdict} />}
          <Checkbox
            label={t('Also servers that it is not known to fit')}
            description={t('The engine is started anyway. Its log says how it went.')}
            {...field('evenIfItDoesNotFit', { type: 'checkbox' })}
          />
        </>
      ) : (
        <RentFields call={call} offers={offers ?? []} offer={offer} SshKeySelect={SshKeySelect} />
      )}
    </>
  );
}

function ServerOption({ server, verdict }: { server: Server; verdict: OnServer | null }) {
  const t = useT();
  const gpu = server.facts?.gpus[0];
  const hardware = gpu
    ? `${server.facts!.gpus.length} × ${gpu.name}`
    : t('{{size}} of memory', { size: formatBytes(server.facts?.ramBytes ?? 0) });
  return (
    <span>
      <span>{server.title}</span>{' '}
      <span className="muted">
        {verdict ? (
          <>
            {hardware}
            {!verdict.fits && ` · ${t(NO_FIT_WORDS[verdict.reason])}`}
          </>
        ) : server.status === 'online' ? (
          t('its agent has not reported')
        ) : (
          <StatusBadge status={server.status} />
        )}
      </span>
    </span>
  );
}

function FitNote({ verdict }: { verdict: OnServer }) {
  const t = useT();
  if (!verdict.fits) return <Note tone="warn">{t(NO_FIT_WORDS[verdict.reason])}</Note>;
  return verdict.on === 'gpu' ? (
    <Note>{t('It fits {{n}} of its GPUs ({{gpu}}).', { n: verdict.count, gpu: verdict.gpu.name })}</Note>
  ) : (
    <Note>{t('It fits the memory of this server and is computed by its CPUs. Their speed is not predicted.')}</Note>
  );
}

interface RentProps extends Pick<Props, 'call' | 'offer' | 'SshKeySelect'> {
  offers: readonly Offer[];
}

function RentFields({ call, offers, offer, SshKeySelect }: RentProps) {
  const t = useT();
  const { form, field } = call;
  if (offers.length === 0)
    return (
      <Note tone="warn" title={t('No server that fits can be rented now')}>
        {t('Choose a smaller quality, a shorter context or another engine, or try again later.')}
      </Note>
    );
  return (
    <>
      <Select
        label={t('Server to rent')}
        description={t('The cheapest that the model fits is chosen. It is charged from when it is online.')}
        options={offers.map((one) => ({ value: one.offerId, label: offerLabel(one) }))}
        data-testid="deploy-offer"
        {...field('offerId')}
        value={offer?.offerId}
      />
      <SshKeySelect
        value={form.values.sshKeyId}
        onChange={(id) => form.setFieldValue('sshKeyId', id)}
        error={field('sshKeyId').error}
        form="deploy"
      />
    </>
  );

  function offerLabel({ providerTitle, region, gpu, cpu, ramGb, pricePerHour, simulated }: Offer): string {
    const hardware = gpu ? `${gpu.count} × ${gpu.name}` : t('{{count}} cores', { count: cpu.cores });
    const price = `${formatAmount(pricePerHour.STAGI.decimalValue)} ${CURRENCY}/${t('h')}`;
    const mark = simulated ? ` · ${t('Simulated')}` : '';
    return `${hardware}, ${ramGb} GB · ${price} · ${providerTitle}, ${region}${mark}`;
  }
}
