import { Progress } from '@mantine/core';
import type { PulledLayer } from '@stagi/contract/pulledLayer.ts';
import { text } from '@stagi/contract/text.ts';
import { useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { formatDecimalBytes } from '../../ui/format.ts';
import classes from './PulledLayers.module.css';

const WORDS: Record<PulledLayer['status'], string> = {
  waiting: text('waiting'),
  downloading: text('downloading'),
  extracting: text('unpacking'),
  done: text('ready'),
};

/** The layers of an image while it is pulled, each with its bar, the ready ones last. Folded up on narrow screens until asked for. */
export function PulledLayers({ layers }: { layers: readonly PulledLayer[] }) {
  const t = useT();
  // Later it is as the person has put it.
  const [isOpenAtFirst] = useState(isWide);
  const done = layers.filter(({ status }) => status === 'done');
  const sorted = [...layers.filter(({ status }) => status !== 'done'), ...done];
  return (
    <details className={classes.layers} open={isOpenAtFirst} data-testid="pulled-layers">
      <summary>{t('{{done}} of {{all}} layers are ready', { done: done.length, all: layers.length })}</summary>
      <ul className={classes.list}>
        {sorted.map((layer) => (
          <li key={layer.id} className={classes.layer} data-testid="pulled-layer">
            <span className="mono">{layer.id}</span>
            <Progress
              className={classes.bar}
              size="xs"
              value={shareOf(layer) * 100}
              aria-label={t('Layer {{id}}', { id: layer.id })}
            />
            <span className={classes.words}>
              {layer.status === 'downloading' && layer.total !== null
                ? t('{{current}} of {{total}}', {
                    current: formatDecimalBytes(layer.current),
                    total: formatDecimalBytes(layer.total),
                  })
                : t(WORDS[layer.status])}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Of the download; what follows it has no measure. */
function shareOf({ status, current, total }: PulledLayer): number {
  if (status === 'done' || status === 'extracting') return 1;
  return total ? current / total : 0;
}

const isWide = (): boolean => window.matchMedia('(min-width: 640px)').matches;
