import { CURRENCY } from '@stagi/contract/brand.ts';
import type { CatalogueModel } from '@stagi/perf/catalogue.ts';
import type { Count } from '@stagi/perf/leastGpus.ts';
import { type PublishedFile, QUALITIES, type Quality } from '@stagi/perf/quality.ts';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { type T, useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { formatAmount } from '../../../ui/format.ts';
import { WHY_NOT_SHORT } from '../fitWords.ts';
import type { ModelChoice } from '../modelChoice.ts';
import { QUALITY_MEANING, qualityLabel } from '../modelWords.ts';
import { chosenFile } from '../setup.ts';
import classes from './GpuMatrix.module.css';
import { type Cell, cellsOf, type GpuRow, gpuName } from './gpuRows.ts';
import { Simulated } from './Simulated.tsx';

interface Props {
  model: CatalogueModel;
  files: readonly PublishedFile[];
  rows: { first: GpuRow[]; others: GpuRow[] };
  choice: ModelChoice;
  /** The cell whose figures are below. */
  shown: { gpu: string; quality: Quality } | null;
  onChoose(cell: { gpu: string; quality: Quality; count: Count }): void;
}

/** How many GPUs of each kind each quality of a model needs at least. */
export function GpuMatrix({ model, files, rows, choice, shown, onChoose }: Props) {
  const t = useT();
  const isShownBelow = rows.others.some(({ gpu }) => gpu.id === shown?.gpu);
  const [all, setAll] = useState(isShownBelow);
  const listed = all ? [...rows.first, ...rows.others] : rows.first;
  const isListed = listed.some(({ gpu }) => gpu.id === shown?.gpu);
  return (
    <>
      <div className={classes.frame}>
        <table className={classes.matrix} data-testid="gpu-matrix">
          <caption className="visually-hidden">
            {t('GPUs that each quality needs at least. The arrow keys move between the cells.')}
          </caption>
          <thead>
            <tr>
              <th scope="col">{t('GPU')}</th>
              {QUALITIES.map((quality) => (
                <QualityHead key={quality} quality={quality} file={chosenFile(files, quality, choice)} />
              ))}
            </tr>
          </thead>
          <tbody onKeyDown={moveFocus}>
            {listed.map((row, index) => (
              <Row
                key={row.gpu.id}
                {...{ model, files, row, choice, onChoose }}
                chosen={shown?.gpu === row.gpu.id ? shown.quality : null}
                hasTabStop={!isListed && index === 0}
              />
            ))}
          </tbody>
        </table>
      </div>
      {rows.others.length > 0 && (
        <div>
          <Button color="gray" size="xs" aria-expanded={all} onClick={() => setAll(!all)}>
            {all
              ? t('Show fewer GPUs')
              : t('Show all {{count}} GPUs', { count: rows.first.length + rows.others.length })}
          </Button>
        </div>
      )}
    </>
  );
}

function QualityHead({ quality, file }: { quality: Quality; file: PublishedFile | undefined }) {
  const t = useT();
  return (
    <th scope="col" title={t(QUALITY_MEANING[quality])}>
      {qualityLabel(t, quality)}
      <span className={classes.below}>{file ? (file.variant ?? file.precision) : t('not published')}</span>
    </th>
  );
}

interface RowProps extends Pick<Props, 'model' | 'files' | 'choice' | 'onChoose'> {
  row: GpuRow;
  chosen: Quality | null;
  /** Tab leads to its first cell, as none is chosen. */
  hasTabStop: boolean;
}

function Row({ model, files, row: { gpu, cheapest }, choice, chosen, hasTabStop, onChoose }: RowProps) {
  const t = useT();
  const cells = useMemo(() => cellsOf(model, files, gpu, choice), [model, files, gpu, choice]);
  const first = cells.find(({ file }) => file)?.quality;
  const name = gpuName(gpu);
  return (
    <tr data-testid={`gpu-${gpu.id}`}>
      <th scope="row">
        <span className={classes.gpu}>{name}</span>
        {cheapest && (
          <span className={classes.below}>
            {priceText(t, cheapest)} {cheapest.offer.simulated && <Simulated />}
          </span>
        )}
      </th>
      {cells.map((cell) => (
        <td key={cell.quality}>
          {cell.least ? (
            <button
              type="button"
              className={classes.cell}
              aria-pressed={chosen === cell.quality}
              aria-label={cellLabel(t, model.name, name, cell)}
              tabIndex={chosen === cell.quality || (hasTabStop && first === cell.quality) ? 0 : -1}
              data-fits={cell.least.count !== null}
              onClick={() => onChoose({ gpu: gpu.id, quality: cell.quality, count: cell.least?.count ?? 8 })}
            >
              {cellText(t, cell)}
            </button>
          ) : (
            <span className={classes.empty} title={t('Nobody publishes files of this quality')}>
              —
            </span>
          )}
        </td>
      ))}
    </tr>
  );
}

function priceText(t: T, { offer, count }: NonNullable<GpuRow['cheapest']>): string {
  const price = `${formatAmount(offer.pricePerHour.STAGI.decimalValue)} ${CURRENCY}/${t('h')}`;
  return count === 1 ? price : t('{{price}} for {{count}} GPUs', { price, count });
}

/** Ends with what is seen in the cell. */
function cellLabel(t: T, model: string, gpu: string, cell: Cell): string {
  const quality = qualityLabel(t, cell.quality);
  return t('{{model}} in {{quality}} on {{gpu}}: {{answer}}', { model, quality, gpu, answer: cellText(t, cell) });
}

function cellText(t: T, { least }: Cell): string {
  if (least && least.count !== null) return t('{{count}} GPUs', { count: least.count });
  const reason = least?.fit.reason ?? 'unknown';
  return t(WHY_NOT_SHORT[reason]);
}

/** One Tab leads into the matrix, the arrow keys through it. */
function moveFocus(event: KeyboardEvent<HTMLTableSectionElement>): void {
  const step = STEPS[event.key];
  const cell = event.target instanceof HTMLElement ? event.target.closest('td') : null;
  const row = cell?.closest('tr');
  if (!step || !cell || !row) return;
  event.preventDefault();
  const [down, right] = step;
  if (right !== 0) {
    let next: Element | null = cell;
    do next = right > 0 ? next.nextElementSibling : next.previousElementSibling;
    while (next && !focusIn(next));
    return;
  }
  let line: Element | null = row;
  do line = down > 0 ? line.nextElementSibling : line.previousElementSibling;
  while (line && !focusIn(line.children[cell.cellIndex]));
}

const STEPS: Record<string, readonly [down: number, right: number]> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
};

function focusIn(cell: Element | undefined): boolean {
  const button = cell?.querySelector('button');
  button?.focus();
  return button !== null && button !== undefined;
}
