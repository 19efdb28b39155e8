import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { T } from '../../../i18n/i18n.ts';
import { formatBytes } from '../../../ui/format.ts';

/** A machine in one line, GPUs first: they are what one looks for. */
export function machineSummary(
  { gpus, cpus, ramBytes }: Pick<MachineFacts, 'gpus' | 'cpus' | 'ramBytes'>,
  t: T,
): string {
  const gpu = gpus[0] ? [`${gpus.length} × ${gpus[0].name}`] : [];
  return [...gpu, t('{{count}} cores', { count: cpus }), formatBytes(ramBytes)].join(' · ');
}
