import { SegmentedControl } from '@mantine/core';
import type { Count } from '@stagi/perf/leastGpus.ts';
import { COUNTS } from '@stagi/perf/leastGpus.ts';
import type { Fit } from '@stagi/perf/memory.ts';
import { shapeOf } from '@stagi/perf/shape.ts';
import { type T, useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { Heading } from '../../../ui/Heading.tsx';
import { ENGINE_NAMES, WHY_NOT_WORDS } from '../fitWords.ts';
import type { ModelChoice } from '../modelChoice.ts';
import { qualityLabel } from '../modelWords.ts';
import { chosenEngine } from '../setup.ts';
import classes from './Calculator.module.css';
import { gpuName } from './gpuRows.ts';
import { MemoryBar } from './MemoryBar.tsx';
import { fitOf, type Remedy, remediesOf, type Shown } from './remedies.ts';
import { SourceList } from './SourceList.tsx';

interface Props {
  shown: Shown;
  choice: ModelChoice;
  choose(changed: Partial<ModelChoice>): void;
}

/** Memory of one GPU by part, whether all of it fits, and what would make it fit. */
export function MemoryPanel({ shown, choice, choose }: Props) {
  const t = useT();
  const { gpu, count, file, quality } = shown;
  const fit = fitOf(shown, choice);
  const engine = ENGINE_NAMES[chosenEngine(file, gpu, choice)];
  return (
    <section className={classes.panel} aria-labelledby="memory" data-testid="memory">
      <div className={classes.head}>
        <Heading level={2} as={3} id="memory">
          {t('Memory on {{gpus}} × {{gpu}}', { gpus: count, gpu: gpuName(gpu) })}
        </Heading>
        <SegmentedControl
          size="xs"
          aria-label={t('GPUs of one server')}
          value={String(count)}
          onChange={(chosen) => choose({ gpu: gpu.id, count: Number(chosen) as Count, quality })}
          data={COUNTS.map((one) => ({ value: String(one), label: `${one} ×` }))}
        />
      </div>
      <p className={classes.verdict} data-tone={fit.fits ? 'ok' : 'bad'} aria-live="polite" data-testid="verdict">
        {verdictOf(t, shown, fit)}
      </p>
      <MemoryBar fit={fit} isUnknown={shapeOf(shown.model) === undefined} />
      {!fit.fits && <Remedies shown={shown} choice={choice} choose={choose} />}
      <p className={classes.small}>
        {shapeOf(shown.model)
          ? t('Of one GPU, with {{file}} in {{engine}}.', { file: file.variant ?? file.precision, engine })
          : t('Of one GPU, with {{file}}.', { file: file.variant ?? file.precision })}{' '}
        {fit.isUpperBound &&
          shapeOf(shown.model) &&
          t('At most: the published numbers do not say how large the cache is.')}
      </p>
      <p className={classes.small}>
        {t('{{gpu}}: {{memory}} GB {{type}}, {{bandwidth}} GB/s, {{tflops}} TFLOPS in 16 bit.', {
          gpu: gpu.name,
          memory: formatNumber(gpu.memoryGb),
          type: gpu.memoryType,
          bandwidth: formatNumber(gpu.memoryBandwidthGBs, 0),
          tflops: formatNumber(gpu.peakDenseTflops.bf16 ?? gpu.peakDenseTflops.fp16),
        })}
      </p>
      <SourceList source={gpu.source} doubts={gpu.doubts} />
    </section>
  );
}

function verdictOf(t: T, { model, gpu, count, quality }: Shown, fit: Fit): string {
  const what = t('{{model}} in {{quality}} on {{gpus}} × {{gpu}}', {
    model: model.name,
    quality: qualityLabel(t, quality),
    gpus: count,
    gpu: gpuName(gpu),
  });
  const reason = fit.reason ?? 'unknown';
  if (!fit.fits) return t('{{what}} does not fit. {{reason}}', { what, reason: t(WHY_NOT_WORDS[reason]) });
  if (!shapeOf(model)) return t('{{what}} fits, judged by the weights with a fifth to spare.', { what });
  const sequences = fit.isUpperBound
    ? t('At least {{count}} sequences of this context fit at once.', { count: fit.sequences })
    : t('{{count}} sequences of this context fit at once.', { count: fit.sequences });
  return `${t('{{what}} fits.', { what })} ${sequences}`;
}

function Remedies({ shown, choice, choose }: Props) {
  const t = useT();
  const remedies = remediesOf(shown, choice);
  if (remedies.length === 0)
    return (
      <p className={classes.small}>
        {t('No single change would do: more of these GPUs, a smaller file, a shorter context or fewer sequences.')}
      </p>
    );
  return (
    <div className={classes.remedies}>
      <span>{t('What would fit:')}</span>
      {remedies.map((remedy) => (
        <Button
          key={JSON.stringify(remedy)}
          color="gray"
          size="xs"
          onClick={() => choose({ ...cellOf(shown), ...remedy })}
        >
          {remedyText(t, remedy, shown)}
        </Button>
      ))}
    </div>
  );
}

const cellOf = ({ gpu, count, quality }: Shown) => ({ gpu: gpu.id, count, quality });

function remedyText(t: T, remedy: Remedy, { gpu }: Shown): string {
  if ('count' in remedy) return `${remedy.count} × ${gpuName(gpu)}`;
  if ('quality' in remedy) return t('Quality {{quality}}', { quality: qualityLabel(t, remedy.quality) });
  if ('context' in remedy) return t('A context of {{tokens}} tokens', { tokens: formatNumber(remedy.context, 0) });
  return t('{{count}} sequences at once', { count: remedy.batch });
}
