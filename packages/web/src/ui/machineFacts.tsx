import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { T } from '../i18n/i18n.ts';
import type { Fact } from './FactList.tsx';
import { formatBytes } from './format.ts';

/** The hardware of a machine, as its daemon reported it. */
export function hardwareFacts(t: T, facts: MachineFacts): Fact[] {
  return [
    {
      label: t('CPU'),
      value: t('{{count}} cores', { count: facts.cpus }) + (facts.cpuName ? ` · ${facts.cpuName}` : ''),
    },
    { label: t('RAM'), value: formatBytes(facts.ramBytes), mono: true },
    { label: t('GPU'), value: gpuLines(facts) },
  ];
}

/** The system of a machine, as its daemon reported it. */
export function systemFacts(t: T, facts: MachineFacts): Fact[] {
  return [
    { label: t('Hostname'), value: facts.hostname, mono: true },
    { label: t('System'), value: `${facts.os} · ${facts.arch}` },
    { label: t('Kernel'), value: facts.kernel, mono: true },
    { label: t('Docker'), value: facts.dockerVersion, mono: true },
    {
      label: t('Disk'),
      value: t('{{free}} free of {{total}}', {
        free: formatBytes(facts.diskFreeBytes),
        total: formatBytes(facts.diskBytes),
      }),
    },
  ];
}

function gpuLines({ gpus }: MachineFacts): string | null {
  return gpus.length === 0
    ? null
    : gpus.map((gpu) => `#${gpu.index} ${gpu.name} · ${formatBytes(gpu.memoryMb * 2 ** 20)}`).join(', ');
}
