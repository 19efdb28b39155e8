import type { Model } from '@stagi/contract/models.ts';
import { text } from '@stagi/contract/text.ts';
import type { CatalogueModel } from '@stagi/perf/catalogue.ts';
import { Suspense } from 'react';
import { type T, useT } from '../../../i18n/i18n.ts';
import { lazyComponent } from '../../../lazyChunks.ts';
import { type Fact, FactList, FactPanels } from '../../../ui/FactList.tsx';
import { formatDecimalBytes, formatNumber } from '../../../ui/format.ts';
import { formatRelease, licenceName, parametersText, qualityLabel, TASK_WORDS } from '../modelWords.ts';
import classes from './Facts.module.css';
import { HubLink } from './links.tsx';
import { SourceList } from './SourceList.tsx';

const ChangeNote = lazyComponent(async () => (await import('./ChangeNote.tsx')).ChangeNote);

/** What is known of a model, and where it is known from. */
export function ModelFacts({ model }: { model: Model }) {
  const t = useT();
  const shape = architectureFacts(t, model.entry);
  return (
    <section className={classes.facts} aria-label={t('Facts')}>
      <FactPanels>
        <FactList title={t('Model')} facts={modelFacts(t, model)} />
        {shape.length > 0 && <FactList title={t('Architecture')} facts={shape} />}
      </FactPanels>
      {model.change && (
        <Suspense>
          <ChangeNote change={model.change} />
        </Suspense>
      )}
      <div className={classes.below}>
        <SourceList source={model.entry.source} doubts={model.entry.doubts} />
        <Files model={model} />
      </div>
    </section>
  );
}

function Files({ model: { files, entry } }: { model: Model }) {
  const t = useT();
  return (
    <details className={classes.sources}>
      <summary>{t('Published files')}</summary>
      {files.length === 0 && <p>{t('No published file has a format that the formulas know.')}</p>}
      <ul>
        {files.map(({ quality, precision, repository, variant, bytes }) => (
          <li key={`${repository} ${variant ?? precision}`}>
            <strong>{qualityLabel(t, quality)}</strong> {variant ?? precision}
            {bytes !== null && `, ${formatDecimalBytes(bytes)}`}: <HubLink repository={repository} />
          </li>
        ))}
        {files.length === 0 && (
          <li>
            <HubLink repository={entry.id} />
          </li>
        )}
      </ul>
    </details>
  );
}

const CAPABILITY_WORDS: Record<string, string> = {
  reasoning: text('reasoning'),
  tools: text('tool calls'),
  vision: text('images'),
};
const KIND_WORDS: Record<string, string> = { 'diffusion-transformer': text('Diffusion transformer') };

function modelFacts(t: T, { entry, task, parameters, contextLength, licence, releasedAt }: Model): Fact[] {
  return [
    { label: t('Task'), value: t(TASK_WORDS[task]) },
    { label: t('Parameters'), value: parametersText(t, parameters) },
    {
      label: t('Context'),
      value: contextLength === null ? null : t('{{tokens}} tokens', { tokens: formatNumber(contextLength, 0) }),
    },
    { label: t('Licence'), value: licence === null ? null : licenceName(licence) },
    { label: t('Released'), value: releasedAt === null ? null : formatRelease(releasedAt) },
    ...listed(
      t('Capabilities'),
      entry.capabilities?.map((capability) => t(CAPABILITY_WORDS[capability] ?? capability)).join(', '),
    ),
    ...listed(t('Kind'), entry.kind && t(KIND_WORDS[entry.kind] ?? entry.kind)),
    { label: t('Repository'), value: <HubLink repository={entry.id} /> },
  ];
}

/** What the formulas read of it. */
function architectureFacts(t: T, entry: CatalogueModel): Fact[] {
  const { layers, heads, kvHeads, headDim, mla, experts, slidingWindow, fullAttentionLayers, hybridPattern } = entry;
  return [
    ...counted(t('Layers'), layers),
    ...listed(
      t('Kinds of layers'),
      hybridPattern &&
        t('{{mamba}} Mamba, {{attention}} attention, {{moe}} with experts, {{mlp}} feed-forward', hybridPattern),
    ),
    ...counted(t('Hidden size'), entry.hiddenSize),
    ...listed(t('Attention heads'), heads && (headDim ? `${heads} × ${headDim}` : String(heads))),
    ...(mla
      ? listed(
          t('KV cache'),
          t('Latent attention (MLA): {{elements}} elements for each token and layer', {
            elements: mla.kvLoraRank + mla.qkRopeHeadDim,
          }),
        )
      : counted(t('KV heads'), kvHeads)),
    ...counted(t('Full-attention layers'), fullAttentionLayers),
    ...listed(t('Sliding window'), slidingWindow && t('{{tokens}} tokens', { tokens: formatNumber(slidingWindow, 0) })),
    ...listed(t('Linear attention'), entry.linearAttention && t('yes, with a state of fixed size')),
    ...listed(
      t('Sparse attention'),
      entry.sparseAttention &&
        t('reads at most {{tokens}} tokens', { tokens: formatNumber(entry.sparseAttention.indexTopK, 0) }),
    ),
    ...listed(
      t('Experts'),
      experts &&
        t('{{experts}}, of which {{active}} work on each token', { experts, active: entry.activeExperts ?? '—' }),
    ),
    ...counted(t('Shared experts'), entry.sharedExperts),
    ...counted(t('Feed-forward size'), experts ? entry.moeIntermediateSize : entry.intermediateSize),
    ...counted(t('Vocabulary'), entry.vocabSize),
    ...counted(t('Embedding dimensions'), entry.embeddingDimensions),
    ...counted(t('Encoder layers'), entry.encoderLayers),
    ...counted(t('Decoder layers'), entry.decoderLayers),
    ...counted(t('Mel bins'), entry.melBins),
    ...counted(t('Double-stream layers'), entry.doubleLayers),
    ...counted(t('Single-stream layers'), entry.singleLayers),
  ];
}

function listed(label: string, value: string | number | false | undefined): Fact[] {
  return value ? [{ label, value }] : [];
}

const counted = (label: string, value: number | undefined): Fact[] =>
  value === undefined ? [] : [{ label, value: formatNumber(value, 0) }];
