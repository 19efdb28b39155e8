import { Progress } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Project, ProjectImport } from '@stagi/contract/projects.ts';
import { text } from '@stagi/contract/text.ts';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { type T, useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { FactList } from '../../ui/FactList.tsx';
import { formatDecimalBytes } from '../../ui/format.ts';
import { Deadline } from '../../ui/Time.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './Projects.module.css';

/** In place of the code while a repository is being imported: what happens now, for how long, how much has come. */
export function ImportProgress({ project }: { project: Project }) {
  const t = useT();
  const { run, loading } = useCall(api.projects.cancelImport, {
    onDone: () => {
      void invalidate('project/');
      toast.success(t('The import has been canceled'));
    },
  });
  const { id, import: running } = project;
  if (!running) return null;
  const { fraction, receivedBytes, url, startedAt, createdAt, deadline } = running;
  const percent = fraction === null ? null : Math.round(Math.min(1, fraction) * 100);
  return (
    <section className={classes.import} aria-labelledby="import-title" data-testid="project-import">
      <h2 id="import-title">{t('A repository is being imported')}</h2>
      <Progress
        size="sm"
        value={percent ?? 100}
        animated={percent === null}
        striped={percent === null}
        aria-label={t('Progress')}
      />
      <FactList
        facts={[
          {
            label: t('Now'),
            value: [phaseText(t, running), percent === null ? null : `${percent} %`].filter(Boolean).join(' · '),
          },
          { label: t('Received'), value: formatDecimalBytes(receivedBytes), mono: true },
          { label: t('Running'), value: <Deadline since={startedAt ?? createdAt} deadline={deadline} /> },
          { label: t('From'), value: url, mono: true, copy: url },
        ]}
      />
      <p className={classes.hint}>{t('You can leave this page: the import goes on.')}</p>
      <div>
        <Button color="gray" loading={loading} onClick={() => void run({ id })} data-testid="import-cancel">
          {t('Cancel the import')}
        </Button>
      </div>
    </section>
  );
}

/** What git and the platform do during an import. A phase without words is shown by its name. */
const PHASES: Partial<Record<string, string>> = {
  connecting: text('connecting'),
  preparing: text('waiting for the other server'),
  receiving: text('receiving objects'),
  resolving: text('resolving deltas'),
  checking: text('checking objects'),
};

function phaseText(t: T, { status, phase }: ProjectImport): string {
  if (status === 'queued' || phase === null) return t('waiting for its turn');
  const words = PHASES[phase];
  return words ? t(words) : phase;
}
