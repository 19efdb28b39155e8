import { Stack } from '@mantine/core';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { useT } from '../../i18n/i18n.ts';
import { CodeBlock } from '../../ui/CodeBlock.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Note } from '../../ui/Note.tsx';
import { firstPush } from './firstPush.ts';
import { GitProtocols } from './GitProtocols.tsx';
import { ImportForm } from './ImportForm.tsx';
import classes from './Projects.module.css';

/** In place of the code while there is none: the lines that bring it here, with the project's own address. */
export function EmptyProject({ project }: { project: Project }) {
  const t = useT();
  const push = projectCan.push(project);
  if (!push.allowed) return <EmptyState title={t('This repository is empty')}>{t(push.reason)}</EmptyState>;
  return (
    <div className={classes.empty} data-testid="project-empty">
      {project.import?.status === 'failed' && (
        <Note tone="bad" title={t('The import failed')}>
          {project.import.error && t(project.import.error)}
        </Note>
      )}
      <section aria-labelledby="empty-project">
        <h2 id="empty-project">{t('This repository is empty')}</h2>
        <p className={classes.hint}>
          {t('Paste these lines into a terminal. The code appears here as soon as it is pushed.')}
        </p>
        <GitProtocols project={project}>
          {(address) => (
            <Stack gap={12}>
              {firstPush(project, address).map(({ title, lines }) => (
                <CodeBlock key={title} title={t(title)} code={lines.join('\n')} />
              ))}
            </Stack>
          )}
        </GitProtocols>
      </section>
      <section aria-labelledby="import-project">
        <h2 id="import-project">{t('Or import a repository')}</h2>
        <p className={classes.hint}>{t('A public repository is fetched once, with all its branches and tags.')}</p>
        <ImportForm project={project} />
      </section>
    </div>
  );
}
