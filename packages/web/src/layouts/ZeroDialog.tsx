import { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { fromDecimal, toDecimal } from '@stagi/contract/money.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../api/messages.ts';
import { invalidate, q } from '../api/query.ts';
import { useCall } from '../api/useCall.ts';
import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/dialogs/Dialog.tsx';
import { ErrorState } from '../ui/ErrorState.tsx';
import { formatAmount, formatDate } from '../ui/format.ts';
import { PanelSkeleton } from '../ui/Skeletons.tsx';
import { TickBox } from '../ui/TickBox.tsx';
import classes from './ZeroDialog.module.css';

/** Which of the paused servers a credit is for that does not reach for all of them. */
export function ZeroDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('What is to start again?')} testId="zero-dialog">
      <Choice onDone={onClose} />
    </Dialog>
  );
}

function Choice({ onDone }: { onDone(): void }) {
  const t = useT();
  const { data, error, refetch } = useQuery(q(api.billing.zero, {}, { quiet: true }));
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const { run, loading } = useCall(api.billing.resume, {
    onDone: () => {
      onDone();
      void invalidate('billing/', 'instance-rented/', 'user/profile');
    },
  });
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} />;
  if (!data) return <PanelSkeleton rows={4} />;

  const has = fromDecimal(data.balance.decimalValue);
  const needed = data.instances
    .filter(({ id }) => chosen.includes(id))
    .reduce(
      (sum, { pricePerHour }) => sum + fromDecimal(pricePerHour.decimalValue),
      fromDecimal(data.otherPerHour.decimalValue) as bigint,
    );
  const missing = needed - has;
  const toggle = (id: number) =>
    setChosen((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id]));
  return (
    <div className={classes.choice}>
      <p className={classes.lead}>
        {t(
          'Your balance of {{amount}} {{currency}} does not cover an hour of everything that was paused. Choose what is to run; the rest stays stopped.',
          {
            amount: formatAmount(data.balance.decimalValue),
            currency: CURRENCY,
          },
        )}
      </p>
      <ul className={classes.servers}>
        {data.instances.map(({ id, title, slug, pricePerHour }) => (
          <li key={id}>
            {/* biome-ignore lint/a11y/noLabelWithoutControl: the box inside is its control */}
            <label className={classes.server}>
              <TickBox label={title} checked={chosen.includes(id)} onChange={() => toggle(id)} />
              <span className={classes.name}>
                {title} <span className={`mono ${classes.slug}`}>{slug}</span>
              </span>
              <span className="mono">
                +{formatAmount(pricePerHour.decimalValue)} {CURRENCY}/{t('h')}
              </span>
            </label>
          </li>
        ))}
      </ul>
      <p className={classes.sum} aria-live="polite">
        {t('An hour of what is to run: {{amount}} {{currency}}', {
          amount: formatAmount(toDecimal(needed)),
          currency: CURRENCY,
        })}
      </p>
      {data.keptUntil && (
        <p className={classes.kept}>
          {t('Without a balance, what was stopped is kept until {{when}}.', { when: formatDate(data.keptUntil) })}
        </p>
      )}
      <Button
        fullWidth
        loading={loading}
        data-testid="zero-resume"
        reason={
          missing > 0n
            ? t('{{amount}} {{currency}} are missing for an hour of it', {
                amount: formatAmount(toDecimal(missing)),
                currency: CURRENCY,
              })
            : null
        }
        onClick={() => void run({ instanceIds: [...chosen] })}
      >
        {chosen.length === 0 ? t('Leave everything stopped') : t('Start what is chosen')}
      </Button>
    </div>
  );
}
