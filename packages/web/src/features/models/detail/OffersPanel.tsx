import type { ProviderState } from '@stagi/contract/hardware.ts';
import { IconServerOff } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Heading } from '../../../ui/Heading.tsx';
import { Note } from '../../../ui/Note.tsx';
import { DataTable } from '../../../ui/table/DataTable.tsx';
import type { ModelChoice } from '../modelChoice.ts';
import classes from './Calculator.module.css';
import { NumberField } from './NumberField.tsx';
import { offerColumns } from './offerColumns.tsx';
import type { FitAnswer } from './useFit.ts';

/** Offers that are shown before one asks for all of them. */
const FIRST = 10;

interface Props {
  fit: FitAnswer;
  /** Whether speed can be computed for models of this kind. */
  hasFormula: boolean;
  choice: ModelChoice;
  choose(changed: Partial<ModelChoice>): void;
}

/** The offers of the marketplace by what a million tokens cost on them, those that meet the goal first. */
export function OffersPanel({ fit, hasFormula, choice, choose }: Props) {
  const t = useT();
  const [all, setAll] = useState(false);
  const { goal } = choice;
  const { entity, providers = [] } = fit.data ?? {};
  const counts = entity?.counts;
  const problem = fit.failureReason && errorText(fit.failureReason);
  return (
    <section className={classes.section} aria-labelledby="offers" data-testid="offers">
      <div>
        <Heading level={2} id="offers">
          {hasFormula ? t('Offers by the price of a million tokens') : t('Offers by price per hour')}
        </Heading>
        {hasFormula && (
          <p className={classes.small}>
            {t(
              'First those that meet the goal, under the load above; then those whose speed is not known, by price per hour.',
            )}
          </p>
        )}
      </div>
      {hasFormula && (
        <div className={classes.fields}>
          <NumberField
            label={t('Next token within, ms')}
            name="tpot"
            value={Math.round(goal.tpot * 1000)}
            description={t('100 ms is about as fast as one reads')}
            onChange={(tpot) => tpot !== null && choose({ goal: { ...goal, tpot: tpot / 1000 } })}
          />
          <NumberField
            label={t('First token within, ms')}
            name="ttft"
            optional
            value={goal.ttft === undefined ? null : Math.round(goal.ttft * 1000)}
            description={t('Any, if left empty')}
            onChange={(ttft) =>
              choose({ goal: ttft === null ? { tpot: goal.tpot } : { tpot: goal.tpot, ttft: ttft / 1000 } })
            }
          />
        </div>
      )}
      <WaitingClouds providers={providers} />
      {problem && entity && (
        <Note tone="warn" title={t('These are the offers of the last answer')}>
          {problem}
        </Note>
      )}
      <DataTable
        label={t('Offers')}
        columns={offerColumns(t, hasFormula)}
        rows={entity?.offers.slice(0, all ? undefined : FIRST)}
        rowKey={({ offer }) => offer.offerId}
        rowTestId="ranked-offer"
        rowActions={({ offer }) => (
          <Button color="gray" size="xs" component={Link} to={paths.offer(offer.offerId)}>
            {t('Rent')}
          </Button>
        )}
        stale={fit.isOld && !problem}
        error={problem}
        onRetry={() => void fit.refetch()}
        retrying={fit.isFetching}
        empty={
          <EmptyState
            icon={<IconServerOff size={20} />}
            title={t('No cloud of this installation has a GPU to rent now')}
          >
            {t('Memory and speed are computed all the same, and you can attach a server of your own.')}
          </EmptyState>
        }
      />
      {entity && entity.offers.length > FIRST && (
        <div>
          <Button color="gray" size="xs" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? t('Show fewer offers') : t('Show {{count}} offers', { count: entity.offers.length })}
          </Button>
        </div>
      )}
      {counts && counts.all - counts.unknown > entity.offers.length && (
        <p className={classes.small}>
          {t('These are the first of {{count}} offers with a GPU.', { count: counts.all - counts.unknown })}
        </p>
      )}
      {counts && counts.unknown > 0 && (
        <p className={classes.small}>
          {t('{{count}} offers have a GPU that the catalogue does not know.', { count: counts.unknown })}
        </p>
      )}
    </section>
  );
}

/** Clouds whose offers are not here, and why. */
function WaitingClouds({ providers }: { providers: readonly ProviderState[] }) {
  const t = useT();
  return providers
    .filter(({ state }) => state !== 'ready')
    .map(({ provider, title, state, detail }) => (
      <Note
        key={provider}
        tone={state === 'unavailable' ? 'warn' : 'info'}
        title={
          state === 'unavailable'
            ? t('{{provider}} is currently unavailable', { provider: title })
            : t('{{provider}} is being prepared', { provider: title })
        }
      >
        {detail && t(detail)}
      </Note>
    ));
}
