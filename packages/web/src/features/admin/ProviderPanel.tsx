import type { OperatedProvider, ProviderCheck } from '@stagi/contract/providers.ts';
import { text } from '@stagi/contract/text.ts';
import { IconStethoscope } from '@tabler/icons-react';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { RightPanel } from '../../ui/dialogs/RightPanel.tsx';
import { FactList } from '../../ui/FactList.tsx';
import { Note } from '../../ui/Note.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { DateTime, TimeAgo } from '../../ui/Time.tsx';
import classes from './Admin.module.css';
import { isBeingChecked } from './useProviderCheck.ts';

interface Props {
  /** Null: closed. */
  provider: OperatedProvider | null;
  onClose(): void;
  onCheck(provider: string): void;
  asking: boolean;
}

const STEPS: Record<ProviderCheck['steps'][number]['step'], string> = {
  readiness: text('Readiness'),
  offers: text('Offer list'),
  machines: text('Machine list'),
};

/** One cloud: its capabilities, rate limit, last errors and a live check. */
export function ProviderPanel({ provider, onClose, ...rest }: Props) {
  const t = useT();
  return (
    <RightPanel of={provider} onClose={onClose} title={provider?.title ?? t('Cloud')} testId="provider-panel">
      {(one) => <Body provider={one} {...rest} />}
    </RightPanel>
  );
}

function Body({ provider, onCheck, asking }: Omit<Props, 'onClose' | 'provider'> & { provider: OperatedProvider }) {
  const t = useT();
  const { check, lastError, limit } = provider;
  const busy = isBeingChecked(provider);
  return (
    <>
      <div className={classes.top}>
        <StatusBadge status={provider.state} prominent />
        <ActionButton
          icon={<IconStethoscope size={16} />}
          testId="provider-check"
          loading={asking || busy}
          onClick={() => onCheck(provider.provider)}
        >
          {t('Check now')}
        </ActionButton>
      </div>
      {provider.detail && <Note tone={provider.state === 'unavailable' ? 'warn' : 'info'}>{t(provider.detail)}</Note>}
      {check && <Check check={check} />}
      <FactList
        facts={[
          { label: t('Configuration name'), value: provider.provider, mono: true },
          { label: t('Last checked'), value: <TimeAgo at={provider.seenAt} /> },
          { label: t('Offers'), value: provider.offers },
          { label: t('Open servers'), value: provider.openInstances },
          { label: t('Can stop servers'), value: provider.can.stop ? t('Yes') : t('No') },
          { label: t('Can reboot servers'), value: provider.can.reboot ? t('Yes') : t('No') },
          { label: t('Bills stopped servers'), value: provider.billedWhenStopped ? t('Yes') : t('No') },
          {
            label: t('Server readiness'),
            value: provider.readiness === 'daemon' ? t('Reported by the agent') : t('Reported by the cloud'),
          },
          { label: t('Host username'), value: provider.hostUsername, mono: true },
          {
            label: t('Timeout'),
            value: t('{{minutes}} minutes to start, stop or reboot', {
              minutes: Math.round(provider.deadlineSeconds / 60),
            }),
          },
          {
            label: t('Limit'),
            value: limit
              ? t('{{perSecond}} calls per second, bursts of {{burst}}', {
                  perSecond: limit.perSecond,
                  burst: limit.burst,
                })
              : t('Unlimited'),
          },
        ]}
      />
      {lastError && (
        <Note tone="warn" title={t('Last error')}>
          {lastError.message}
          <p className={classes.small}>
            <DateTime at={lastError.at} /> · <span className="mono">{lastError.action}</span> ·{' '}
            <span className="mono">{lastError.slug}</span>
          </p>
        </Note>
      )}
    </>
  );
}

function Check({ check }: { check: ProviderCheck }) {
  const t = useT();
  return (
    <section aria-live="polite" data-testid="check">
      <h3 className={classes.title}>{t('Last check')}</h3>
      <p className={classes.small}>
        <StatusBadge status={check.status} /> · <DateTime at={check.askedAt} /> · {personName(t, check.askedBy)}
      </p>
      <ul className={classes.rows}>
        {check.steps.map(({ step, isDone, milliseconds, count, message }) => (
          <li key={step} data-testid="check-step">
            <span className={classes.row}>
              <span>{t(STEPS[step])}</span>
              {message && <span className={classes.small}>{t(message)}</span>}
            </span>
            <span className={classes.small}>
              {count !== null && <span className="mono">{count} · </span>}
              <span className="mono">{t('{{milliseconds}} ms', { milliseconds })}</span>{' '}
              <StatusBadge status={isDone ? 'done' : 'failed'} />
            </span>
          </li>
        ))}
      </ul>
      {check.endedAt !== null && check.steps.length === 0 && (
        <p className={classes.small}>{t('No response in time')}</p>
      )}
    </section>
  );
}
