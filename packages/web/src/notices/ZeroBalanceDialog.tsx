import { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { fromDecimal, toDecimal } from '@stagi/contract/money.ts';
import type { Money } from '@stagi/contract/price.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { permissionsText } from '../access/permissionChecks.ts';
import { errorText } from '../api/messages.ts';
import { invalidate, q } from '../api/query.ts';
import { useCall } from '../api/useCall.ts';
import { useHasPermission } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { BareCheckbox } from '../ui/BareCheckbox.tsx';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/dialogs/Dialog.tsx';
import { ErrorState } from '../ui/ErrorState.tsx';
import { formatAmount, formatDate } from '../ui/format.ts';
import { PanelSkeleton } from '../ui/Skeletons.tsx';
import classes from './ZeroBalanceDialog.module.css';

type Zero = OutputOf<typeof api.billing.zero>;

/** The servers that were stopped at zero balance, and the storages that are read-only. With a credit that does not cover all of them, the person chooses. */
export function ZeroBalanceDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  const { data, error, refetch } = useQuery(q(api.billing.zero, {}, { quiet: true }));
  const mayChoose = Number(data?.balance.decimalValue ?? 0) > 0 && (data?.instances.length ?? 0) > 0;
  return (
    <Dialog
      opened={opened}
      onClose={onClose}
      title={mayChoose ? t('Choose what to restart') : t('Zero balance')}
      testId="zero-dialog"
    >
      {data ? (
        <div className={classes.choice}>
          {mayChoose ? <Choice zero={data} onDone={onClose} /> : <Stopped zero={data} />}
          {data.keptUntil && data.instances.length + data.storages.length > 0 && (
            <p className={classes.kept}>
              {t('Without a balance, stopped servers and storages are kept until {{when}}.', {
                when: formatDate(data.keptUntil),
              })}
            </p>
          )}
          {data.storages.length > 0 && <ReadOnly zero={data} />}
          {!mayChoose && data.exhausted && <HowToAdd onLeave={onClose} />}
          {data.lost.length > 0 && <Lost servers={data.lost} />}
        </div>
      ) : error ? (
        <ErrorState message={errorText(error)} onRetry={() => void refetch()} />
      ) : (
        <PanelSkeleton rows={4} />
      )}
    </Dialog>
  );
}

/** Micro-STAGI for an hour of all that zero stopped and of everything else. */
function hourOfEverything({ instances, otherPerHour }: Zero): bigint {
  return instances.reduce(
    (sum, { pricePerHour }) => sum + fromDecimal(pricePerHour.decimalValue),
    fromDecimal(otherPerHour.decimalValue) as bigint,
  );
}

function Stopped({ zero }: { zero: Zero }) {
  const t = useT();
  const { instances, storages } = zero;
  const all = hourOfEverything(zero);
  if (instances.length === 0 && storages.length > 0) return null;
  if (instances.length === 0) return <p className={classes.lead}>{t('Nothing is waiting to be restarted.')}</p>;
  return (
    <>
      <p className={classes.lead}>
        {t(
          'These servers start again as soon as the balance covers an hour of everything: {{amount}} {{currency}}. With less you choose which.',
          { amount: formatAmount(toDecimal(all)), currency: CURRENCY },
        )}
      </p>
      <ul className={classes.servers}>
        {instances.map(({ pricePerHour, ...server }) => (
          <li key={server.id} className={classes.server}>
            <ServerName server={server} />
            <PerHour amount={pricePerHour} />
          </li>
        ))}
      </ul>
    </>
  );
}

function ReadOnly({ zero }: { zero: Zero }) {
  const t = useT();
  return (
    <section aria-labelledby="zero-storages" data-testid="zero-storages">
      <h3 className={classes.title} id="zero-storages">
        {t('Read-only storages')}
      </h3>
      <p className={classes.kept}>
        {t('They become writable as soon as the balance covers an hour of everything: {{amount}} {{currency}}.', {
          amount: formatAmount(toDecimal(hourOfEverything(zero))),
          currency: CURRENCY,
        })}
      </p>
      <ul className={classes.servers}>
        {zero.storages.map((storage) => (
          <li key={storage.id} className={classes.server}>
            <ServerName server={storage} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Promo codes are how funds are added today. */
function HowToAdd({ onLeave }: { onLeave(): void }) {
  const t = useT();
  const mayAdd = useHasPermission('BILLING');
  if (!mayAdd)
    return (
      <p className={classes.kept} data-testid="zero-add">
        {t('Funds are added by members whose role includes: {{permissions}}', {
          permissions: permissionsText(['BILLING']),
        })}
      </p>
    );
  return (
    <p className={classes.kept} data-testid="zero-add">
      {t('Funds are added with a promo code, on the page of the balance.')}{' '}
      <Link className={classes.link} to={paths.balance()} onClick={onLeave}>
        {t('Open the balance')}
      </Link>
    </p>
  );
}

function Lost({ servers }: { servers: Zero['lost'] }) {
  const t = useT();
  return (
    <section aria-labelledby="zero-lost">
      <h3 className={classes.title} id="zero-lost">
        {t('Terminated, with the data on them')}
      </h3>
      <p className={classes.kept}>{t('Their providers cannot stop servers.')}</p>
      <ul className={classes.servers}>
        {servers.map((server) => (
          <li key={server.id} className={classes.server}>
            <ServerName server={server} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ServerName({ server: { title, slug } }: { server: Pick<Zero['lost'][number], 'title' | 'slug'> }) {
  return (
    <span className={classes.name}>
      {title} <span className={`mono ${classes.slug}`}>{slug}</span>
    </span>
  );
}

function PerHour({ amount }: { amount: Money }) {
  const t = useT();
  return (
    <span className="mono">
      +{formatAmount(amount.decimalValue)} {CURRENCY}/{t('h')}
    </span>
  );
}

function Choice({ zero: data, onDone }: { zero: Zero; onDone(): void }) {
  const t = useT();
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const { run, loading } = useCall(api.billing.resume, {
    onDone: () => {
      onDone();
      void invalidate('billing/', 'instance-rented/', 'user/profile');
    },
  });

  const has = fromDecimal(data.balance.decimalValue);
  const needed = data.instances
    .filter(({ id }) => chosen.includes(id))
    .reduce(
      (sum, { pricePerHour }) => sum + fromDecimal(pricePerHour.decimalValue),
      fromDecimal(data.otherPerHour.decimalValue) as bigint,
    );
  const missing = needed - has;
  const all = hourOfEverything(data);
  const amounts = { amount: formatAmount(data.balance.decimalValue), currency: CURRENCY };
  const toggle = (id: number) =>
    setChosen((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id]));
  return (
    <>
      <p className={classes.lead}>
        {all > has
          ? t(
              'Your balance of {{amount}} {{currency}} does not cover an hour of everything that was paused. Choose what to start; the rest stays stopped.',
              amounts,
            )
          : t(
              'Your balance of {{amount}} {{currency}} is what was left of a reserve. Choose what to start; the rest stays stopped.',
              amounts,
            )}
      </p>
      <ul className={classes.servers}>
        {data.instances.map(({ id, title, slug, pricePerHour }) => (
          <li key={id}>
            {/* biome-ignore lint/a11y/noLabelWithoutControl: the box inside is its control */}
            <label className={classes.server}>
              <BareCheckbox label={title} checked={chosen.includes(id)} onChange={() => toggle(id)} />
              <ServerName server={{ title, slug }} />
              <PerHour amount={pricePerHour} />
            </label>
          </li>
        ))}
      </ul>
      <p className={classes.sum} aria-live="polite">
        {t('One hour of the selected servers: {{amount}} {{currency}}', {
          amount: formatAmount(toDecimal(needed)),
          currency: CURRENCY,
        })}
      </p>
      <Button
        fullWidth
        loading={loading}
        data-testid="zero-resume"
        reason={
          missing > 0n
            ? t('{{amount}} {{currency}} short of one hour', {
                amount: formatAmount(toDecimal(missing)),
                currency: CURRENCY,
              })
            : null
        }
        onClick={() => void run({ instanceIds: [...chosen] })}
      >
        {chosen.length === 0 ? t('Leave everything stopped') : t('Start selected')}
      </Button>
    </>
  );
}
