import type { TaskDetail } from '@stagi/contract/tasks.ts';
import { useT } from '../../../i18n/i18n.ts';
import { formatBytes } from '../../../ui/format.ts';
import { Note } from '../../../ui/Note.tsx';
import { hasEnded } from '../useTaskActions.tsx';

/** Whether the files below are all there will be, and what is not among them. */
export function OutputState({ task }: { task: TaskDetail }) {
  const t = useT();
  const output = task.runs[0]?.output;
  if (!output) return null;
  const { phase, files, bytes, skipped, error } = output;
  switch (phase) {
    case 'saving':
      return (
        <Note title={t('The output is being stored')}>
          {t('{{count}} files, {{size}}', { count: files, size: formatBytes(bytes) })}
        </Note>
      );
    case 'not saved':
      return (
        <Note tone="bad" title={t('The output could not be stored whole')}>
          {error && <div>{t(error)}</div>}
          {files > 0 && <div>{t('Below is what was stored before.')}</div>}
        </Note>
      );
    case 'saved':
      return skipped === 0 ? null : (
        <Note>
          {t('{{count}} entries were left out: only files are stored, no links, sockets or devices.', {
            count: skipped,
          })}
        </Note>
      );
    case 'none':
      if (hasEnded(task)) return null;
      return task.runCount > 1 ? (
        <Note>{t('Below is what earlier runs have put out. The current run overwrites it after its end.')}</Note>
      ) : null;
  }
}
