import type { Task } from '@stagi/contract/tasks.ts';
import { useT } from '../../i18n/i18n.ts';
import { formatElapsed } from '../../ui/format.ts';
import { Elapsed } from '../../ui/Time.tsx';
import { runSeconds } from './taskTimes.ts';

/** How long a run took, or has been running: a clock. */
export function RunDuration({ of }: { of: Pick<Task, 'startedAt' | 'finishedAt'> }) {
  const t = useT();
  if (of.startedAt === null) return <span className="muted">{t('no data')}</span>;
  const seconds = runSeconds(of);
  return seconds === null ? <Elapsed since={of.startedAt} /> : <span className="mono">{formatElapsed(seconds)}</span>;
}
