import { Skeleton } from '@mantine/core';
import type { ModelCard } from '@stagi/contract/models.ts';
import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { CutText } from '../../../ui/CutText.tsx';
import {
  formatContext,
  formatRelease,
  licenceName,
  parametersText,
  QUALITY_MEANING,
  qualityLabel,
  TASK_WORDS,
} from '../modelWords.ts';
import classes from './Models.module.css';

interface Props {
  models: readonly ModelCard[];
  /** The next answer is on its way. */
  stale: boolean;
}

export function ModelCards({ models, stale }: Props) {
  const t = useT();
  return (
    <ul className={classes.cards} aria-label={t('Models')} aria-busy={stale} data-stale={stale || undefined}>
      {models.map((model) => (
        <Card key={model.id} model={model} />
      ))}
    </ul>
  );
}

function Card({ model }: { model: ModelCard }) {
  const t = useT();
  const { title, publisher, task, licence, contextLength, releasedAt } = model;
  const facts = [
    { name: t('Parameters'), value: parametersText(t, model.parameters), mono: true },
    { name: t('Context'), value: contextLength === null ? '–' : formatContext(contextLength), mono: true },
    { name: t('Licence'), value: licence && licenceName(licence) },
    { name: t('Released'), value: releasedAt && formatRelease(releasedAt), mono: true },
  ];
  return (
    <li className={classes.card} data-testid="model-card">
      <h2 className={classes.title}>
        <Link to={paths.model(model.name, model.id)}>
          <CutText>{title}</CutText>
        </Link>
      </h2>
      <p className={classes.publisher}>
        <CutText>{`${publisher} · ${t(TASK_WORDS[task])}`}</CutText>
      </p>
      <dl className={classes.facts}>
        {facts.map(({ name, value, mono }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={value && mono ? 'mono' : undefined}>
              {value ? mono ? value : <CutText>{value}</CutText> : <span className="muted">{t('not known')}</span>}
            </dd>
          </div>
        ))}
      </dl>
      <Qualities of={model.qualities} />
    </li>
  );
}

/** The sizes that somebody publishes files of. */
export function Qualities({ of }: { of: ModelCard['qualities'] }) {
  const t = useT();
  if (of.length === 0) return <span className={classes.qualities} />;
  return (
    <ul className={classes.qualities} aria-label={t('Published qualities')}>
      {of.map((quality) => (
        <li key={quality} title={t(QUALITY_MEANING[quality])}>
          {qualityLabel(t, quality)}
        </li>
      ))}
    </ul>
  );
}

const SKELETONS = 12;

/** Cards of the height that they will have. */
export function CardSkeletons() {
  return (
    <div className={classes.cards} aria-busy="true">
      {Array.from({ length: SKELETONS }, (_, index) => index).map((index) => (
        <div key={index} className={classes.card}>
          <Skeleton height={14} width={`${45 + ((index * 17) % 35)}%`} mt={5} mb={15} />
          <Skeleton height={12} width="60%" mb={20} />
          <Skeleton height={60} width="85%" />
        </div>
      ))}
    </div>
  );
}
