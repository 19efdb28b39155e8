import { text } from '@stagi/contract/text.ts';
import type { Fit } from '@stagi/perf/memory.ts';
import { useT } from '../../../i18n/i18n.ts';
import { formatBytes } from '../../../ui/format.ts';
import classes from './MemoryBar.module.css';

const PARTS = ['weights', 'cache', 'activations', 'runtime'] as const;
const WORDS = {
  weights: text('Weights'),
  cache: text('KV cache'),
  activations: text('Activations'),
  runtime: text('Runtime'),
};

interface Props {
  fit: Fit;
  /** Only the weights and the runtime are known. */
  isUnknown: boolean;
}

/** The parts of the memory of one GPU, as a bar and in numbers. */
export function MemoryBar({ fit: { parts, isUpperBound }, isUnknown }: Props) {
  const t = useT();
  const { budget, total } = parts;
  const whole = Math.max(budget, total);
  const known = PARTS.filter((part) => !isUnknown || part === 'weights' || part === 'runtime');
  const share = (bytes: number) => `${(bytes / whole) * 100}%`;
  return (
    <div className={classes.memory}>
      <div className={classes.bar} aria-hidden="true">
        {known.map((part) => (
          <span key={part} data-part={part} style={{ width: share(parts[part]) }} />
        ))}
        {total > budget && <span className={classes.limit} style={{ left: share(budget) }} />}
      </div>
      <dl className={classes.numbers} aria-live="polite">
        {known.map((part) => (
          <Line
            key={part}
            part={part}
            label={t(WORDS[part])}
            value={
              part === 'cache' && isUpperBound
                ? t('at most {{size}}', { size: formatBytes(parts.cache) })
                : formatBytes(parts[part])
            }
          />
        ))}
        {total > budget ? (
          <Line part="missing" label={t('Missing')} value={formatBytes(total - budget)} />
        ) : (
          <Line part="free" label={t('Free memory')} value={formatBytes(budget - total)} />
        )}
        <Line part="budget" label={t('What the engine may use')} value={formatBytes(budget)} />
      </dl>
    </div>
  );
}

function Line({ part, label, value }: { part: string; label: string; value: string }) {
  return (
    <div data-testid={`memory-${part}`}>
      <dt>
        <span className={classes.swatch} data-part={part} aria-hidden="true" />
        {label}
      </dt>
      <dd>{value}</dd>
    </div>
  );
}
