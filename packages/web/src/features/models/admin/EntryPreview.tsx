import { text } from '@stagi/contract/text.ts';
import type { Contradiction } from '@stagi/perf/contradictions.ts';
import { useEffect, useState } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { formatDecimalBytes, formatNumber } from '../../../ui/format.ts';
import { qualityLabel } from '../modelWords.ts';
import { type Draft, fieldsOf } from './draft.ts';
import classes from './Entry.module.css';
import type { Preview } from './preview.ts';

/** What is wrong, as the call would say it. */
const CONTRADICTIONS: Record<Contradiction['kind'], string> = {
  'active parameters': text('Active parameters cannot be more than all parameters'),
  'KV heads': text('KV heads cannot be more than heads'),
  'active experts': text('Active experts cannot be more than experts'),
  'too few parameters': text('The architecture alone has more parameters than this total'),
};

/** What the formulas compute of the numbers as they are typed, so that a slip of three zeros is seen. */
export function EntryPreview({ draft }: { draft: Draft }) {
  const t = useT();
  const preview = usePreview(draft);
  if (preview === undefined) return null;
  return (
    <section className={classes.preview} aria-label={t('What the formulas compute')} data-testid="entry-preview">
      <p className={classes.small}>{t('What the formulas compute')}</p>
      {preview === null ? (
        <p>{t('Memory is computed once a task and the parameters are given.')}</p>
      ) : (
        <>
          {preview.weights.length === 0 ? (
            <p>{t('No published file of a known size: no memory is told.')}</p>
          ) : (
            <ul className={classes.sizes} aria-label={t('Weights by quality')}>
              {preview.weights.map(({ quality, bytes }) => (
                <li key={quality}>
                  {qualityLabel(t, quality)}: <strong>{formatNumber(bytes / 1e9)} GB</strong>
                </li>
              ))}
            </ul>
          )}
          <p className="muted">
            {preview.cacheBytes === null
              ? t('The architecture is not complete: only weights are computed, and no speed is told.')
              : t('KV cache of 8,192 tokens: {{size}}', { size: formatDecimalBytes(preview.cacheBytes) })}
          </p>
          {preview.contradiction && <p className={classes.bad}>{t(CONTRADICTIONS[preview.contradiction.kind])}</p>}
        </>
      )}
    </section>
  );
}

/** The formulas are loaded with the first preview. `undefined`: not yet. */
function usePreview(draft: Draft): Preview | null | undefined {
  const [formulas, setFormulas] = useState<typeof import('./preview.ts') | null>(null);
  useEffect(() => {
    let gone = false;
    import('./preview.ts').then(
      (loaded) => {
        if (!gone) setFormulas(loaded);
      },
      (cause: unknown) => console.warn('The formulas could not be fetched', cause),
    );
    return () => {
      gone = true;
    };
  }, []);
  return formulas ? formulas.previewOf(draft.modelId, fieldsOf(draft)) : undefined;
}
