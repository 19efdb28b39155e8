import { containerCan } from '@stagi/contract/containerRules.ts';
import { text } from '@stagi/contract/text.ts';
import { requireManagement, type Viewer, visibleContainer } from '../containers/access.ts';
import { invalid, refused } from '../http/errors.ts';
import type { Volume } from './daemonFiles.ts';

/** A volume whose files the caller may read, or read and change, now. */
export async function findVolume(
  viewer: Viewer,
  { id, volume }: { id: number; volume: string },
  wants: 'read' | 'change',
): Promise<Volume> {
  const container = await visibleContainer(viewer, { id });
  if (wants === 'change') requireManagement(viewer, container.instance.kind);
  const verdict = containerCan.openFiles(container);
  if (!verdict.allowed) throw refused(verdict.reason);
  if (!container.directoryMappings.some((mapping) => mapping.container === volume))
    throw invalid(text('This container has no such volume'), 'volume');
  return { containerId: container.id, instanceId: container.instance.id, directory: volume };
}
