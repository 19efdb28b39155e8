import { api } from '@stagi/contract/api.ts';
import type { Model } from '@stagi/contract/models.ts';
import type { Gpu } from '@stagi/perf/catalogue.ts';
import { filesOf, type PublishedFile, type Quality } from '@stagi/perf/quality.ts';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import { track } from '../../../api/analytics.ts';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Heading } from '../../../ui/Heading.tsx';
import type { ModelChoice } from '../modelChoice.ts';
import { chosenFile, hasFormula } from '../setup.ts';
import { useModelChoice } from '../useModelChoice.ts';
import classes from './Calculator.module.css';
import { CalculatorSkeleton } from './CalculatorSkeleton.tsx';
import { GpuMatrix } from './GpuMatrix.tsx';
import { cellsOf, type GpuRow, gpuRows } from './gpuRows.ts';
import { MemoryPanel } from './MemoryPanel.tsx';
import { OffersPanel } from './OffersPanel.tsx';
import type { Shown } from './remedies.ts';
import { SetupFields } from './SetupFields.tsx';
import { SpeedPanel } from './SpeedPanel.tsx';
import { useFit } from './useFit.ts';

/** What a model fits, how fast it is there, and what that costs. Loaded after the page, with the formulas. */
export function Calculator({ model }: { model: Model }) {
  const { data, error, isFetching, refetch } = useQuery({
    ...q(api.models.gpus, {}, { quiet: true }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data) return <Figures model={model} gpus={data.entities} />;
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <CalculatorSkeleton />;
}

function Figures({ model, gpus }: { model: Model; gpus: readonly Gpu[] }) {
  const t = useT();
  const { entry } = model;
  const { choice, choose } = useModelChoice(model);
  const files = useMemo(() => filesOf(entry), [entry]);
  const fit = useFit(model, choice);
  const cheapest = fit.data?.entity.cheapest;
  const rows = useMemo(() => gpuRows(gpus, cheapest ?? []), [gpus, cheapest]);
  // The order of the rows depends on the offers: they are waited for, unless they do not come. The many cells are
  // rendered in slices, so that the page answers meanwhile.
  const isReady = useDeferredValue(!fit.isPending || fit.failureReason !== null, false);
  if (!isReady) return <CalculatorSkeleton />;
  const shown = shownOf(entry, files, rows, gpus, choice);
  return (
    <div className={classes.calculator}>
      <section className={classes.section} aria-labelledby="fits">
        <div>
          <Heading level={2} id="fits">
            {t('What it fits')}
          </Heading>
          <p className={classes.small}>{t('GPUs of one server that each quality needs at least.')}</p>
        </div>
        <SetupFields model={model} files={files} shown={shown} choice={choice} choose={choose} />
        <GpuMatrix
          model={entry}
          files={files}
          rows={rows}
          choice={choice}
          shown={shown && { gpu: shown.gpu.id, quality: shown.quality }}
          onChoose={(cell) => {
            track('gpu_quality_selected_models');
            choose(cell);
          }}
        />
      </section>
      {shown && (
        <div className={classes.panels}>
          <MemoryPanel shown={shown} choice={choice} choose={choose} />
          <SpeedPanel shown={shown} choice={choice} choose={choose} offers={cheapest ?? []} />
        </div>
      )}
      <OffersPanel fit={fit} hasFormula={hasFormula(entry)} choice={choice} choose={choose} />
    </div>
  );
}

/** The chosen cell; before one is chosen, the cheapest that fits. Null if the model has no file of a known format. */
function shownOf(
  model: Model['entry'],
  files: readonly PublishedFile[],
  rows: { first: GpuRow[] },
  gpus: readonly Gpu[],
  choice: ModelChoice,
): Shown | null {
  const file = chosenFile(files, choice.quality, choice);
  if (!file) return null;
  const { quality } = choice;
  const chosen = gpus.find(({ id }) => id === choice.gpu);
  if (chosen) return { model, files, file, quality, gpu: chosen, count: choice.count };
  const best = bestRow(model, files, rows.first, choice, quality) ?? rows.first[0];
  if (!best) return null;
  const least = cellsOf(model, files, best.gpu, choice).find((cell) => cell.quality === quality)?.least;
  return { model, files, file, quality, gpu: best.gpu, count: least?.count ?? 8 };
}

function bestRow(
  model: Model['entry'],
  files: readonly PublishedFile[],
  rows: readonly GpuRow[],
  choice: ModelChoice,
  quality: Quality,
): GpuRow | undefined {
  return rows.find(({ gpu }) =>
    cellsOf(model, files, gpu, choice).some(
      (cell) => cell.quality === quality && cell.least && cell.least.count !== null,
    ),
  );
}
