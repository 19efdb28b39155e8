import { SegmentedControl } from '@mantine/core';
import type { Model } from '@stagi/contract/models.ts';
import { ENGINES, type Engine } from '@stagi/perf/engines.ts';
import { engineOf, enginesFor } from '@stagi/perf/leastGpus.ts';
import type { PublishedFile } from '@stagi/perf/quality.ts';
import { shapeOf } from '@stagi/perf/shape.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { FormItem } from '../../../ui/form/FormItem.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { ENGINE_NAMES, FORMAT_NAMES } from '../fitWords.ts';
import type { ModelChoice } from '../modelChoice.ts';
import { formatContext } from '../modelWords.ts';
import { chosenEngine } from '../setup.ts';
import classes from './Calculator.module.css';
import { NumberField } from './NumberField.tsx';
import type { Shown } from './remedies.ts';

interface Props {
  model: Model;
  files: readonly PublishedFile[];
  shown: Shown | null;
  choice: ModelChoice;
  choose(changed: Partial<ModelChoice>): void;
}

const CONTEXTS = [4096, 8192, 32_768, 131_072];

/** How the model is run: what the KV cache must have room for, and by what. */
export function SetupFields({ model: { entry, contextLength }, files, shown, choice, choose }: Props) {
  const t = useT();
  const formats = new Set(files.filter(({ quality }) => quality === choice.quality).map(({ format }) => format));
  const most = contextLength ?? CONTEXTS.at(-1)!;
  const presets = [...CONTEXTS.filter((tokens) => tokens < most), most];
  return (
    <div className={classes.fields}>
      {shapeOf(entry) && cacheFields()}
      {shown && shapeOf(entry) && (
        <Select
          label={t('Engine')}
          options={ENGINES.map((engine) => engineOption(engine, shown))}
          value={chosenEngine(shown.file, shown.gpu, choice)}
          onChange={(engine) => choose({ engine: engine === engineOf(shown.file) ? null : (engine as Engine | null) })}
          data-testid="choice-engine"
        />
      )}
      {formats.size > 1 && (
        <FormItem label={t('Files')} group="group">
          <SegmentedControl
            aria-label={t('Files')}
            value={shown?.file.format}
            onChange={(format) => choose({ format: format as PublishedFile['format'] })}
            data={[...formats].map((format) => ({ value: format, label: FORMAT_NAMES[format] }))}
          />
        </FormItem>
      )}
    </div>
  );

  function cacheFields() {
    return (
      <>
        <div>
          <NumberField
            label={t('Context, tokens')}
            name="context"
            value={choice.context}
            max={
              contextLength === null
                ? undefined
                : {
                    value: contextLength,
                    message: t('This model reads at most {{tokens}} tokens', {
                      tokens: formatNumber(contextLength, 0),
                    }),
                  }
            }
            onChange={(context) => context !== null && choose({ context })}
          />
          <div className={classes.presets}>
            {presets.map((tokens) => (
              <Button
                key={tokens}
                color={tokens === choice.context ? 'primary' : 'gray'}
                look={tokens === choice.context ? 'soft' : 'filled'}
                size="xxxs"
                aria-pressed={tokens === choice.context}
                title={t('{{tokens}} tokens', { tokens: formatNumber(tokens, 0) })}
                onClick={() => choose({ context: tokens })}
              >
                {formatContext(tokens)}
              </Button>
            ))}
          </div>
        </div>
        <NumberField
          label={t('Sequences at once')}
          name="batch"
          value={choice.batch}
          onChange={(batch) => batch !== null && choose({ batch })}
        />
        <FormItem label={t('Elements of the KV cache')} group="group">
          <SegmentedControl
            aria-label={t('Elements of the KV cache')}
            value={choice.has8BitCache ? '8' : 'engine'}
            onChange={(bits) => choose({ has8BitCache: bits === '8' })}
            data={[
              { value: 'engine', label: t('As the engine sets') },
              { value: '8', label: t('8 bit') },
            ]}
          />
        </FormItem>
      </>
    );
  }
}

/** One that does not read the file, or not on this GPU, is listed all the same. */
function engineOption(engine: Engine, { file, gpu }: Shown) {
  return { value: engine, label: ENGINE_NAMES[engine], disabled: !enginesFor(file, gpu).includes(engine) };
}
