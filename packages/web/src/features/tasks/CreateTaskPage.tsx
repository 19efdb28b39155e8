import { api } from '@stagi/contract/api.ts';
import type { TaskSchedule } from '@stagi/contract/taskSchedules.ts';
import { IconGitBranch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useHasPermission } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { usePageTitle } from '../../navigation/pageTitle.tsx';
import { idIn, paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Note } from '../../ui/Note.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { FormSkeleton } from '../../ui/Skeletons.tsx';

/** Fetched while the page asks what the form offers. */
const loadForm = async () => (await import('./form/TaskForm.tsx')).TaskForm;
const TaskForm = lazyComponent(loadForm);

/** What is free on the servers changes with what runs on them. */
const REFETCH_MS = 10_000;

/**
 * The form of a new task or schedule. In the address: `project`, `commit` to run, `clone` with the id of a task, and
 * `schedule`: `new`, or the id of the one to edit.
 */
export function CreateTaskPage() {
  // A failure is told when the form is shown.
  useEffect(() => void loadForm().catch(() => {}), []);
  const [params] = useSearchParams();
  const schedule = idIn(params.get('schedule'));
  const visit: Visit = {
    project: idIn(params.get('project')),
    clone: idIn(params.get('clone')),
    commit: params.get('commit'),
    startsOnSchedule: params.get('schedule') === 'new',
  };
  // Another address is another form.
  const key = params.toString();
  return schedule === null ? <Filled key={key} visit={visit} schedule={null} /> : <Editing key={key} id={schedule} />;
}

interface Visit {
  project: number | null;
  clone: number | null;
  commit: string | null;
  startsOnSchedule: boolean;
}

function Editing({ id }: { id: number }) {
  const t = useT();
  // The form begins with what the schedule is now, not with what was cached.
  const { data, error, isFetching, refetch } = useQuery({
    ...q(api.tasks.viewSchedule, { id }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  if (data) {
    const { project } = data.entity;
    const visit = { project: project.id, clone: null, commit: null, startsOnSchedule: true };
    return <Filled visit={visit} schedule={data.entity} />;
  }
  return (
    <>
      <PageHeader title={t('Edit the schedule')} />
      {error ? (
        <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />
      ) : (
        <FormSkeleton />
      )}
    </>
  );
}

function Filled({ visit, schedule }: { visit: Visit; schedule: TaskSchedule | null }) {
  const t = useT();
  const { project, clone, commit, startsOnSchedule } = visit;
  /** The project that was chosen since. */
  const [chosen, setChosen] = useState<number | null>(null);
  const asked = chosen ?? project;
  const input = {
    ...(asked !== null && { projectRef: { id: asked } }),
    ...(clone !== null && { cloneOf: { id: clone } }),
  };
  const { data, error, isFetching, refetch } = useQuery({
    // Where the form is filled in already, a refusal must not leave the page.
    ...q(api.tasks.form, input, { quiet: chosen !== null }),
    // The form begins with the values of the last task, not with those of the one before it.
    gcTime: 0,
    refetchInterval: ({ state }) => state.data !== undefined && REFETCH_MS,
  });
  /** The form stays with it while another answer is awaited, or where there is none. */
  const [last, setLast] = useState(data);
  if (data && data !== last) setLast(data);
  const offer = data ?? last;
  const title = titleOf();
  usePageTitle(title);
  return (
    <>
      <PageHeader title={title}>
        {t('Runs the code of a commit in a container, with input from a storage, and keeps its output there.')}
      </PageHeader>
      {body()}
    </>
  );

  function titleOf(): string {
    if (schedule) return t('Edit the schedule');
    if (clone === null) return t('Create a task');
    return offer?.valuesOf ? t('Clone of task #{{number}}', { number: offer.valuesOf.ordinal }) : t('Clone of a task');
  }

  function body() {
    const failure = error && !data && (
      <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />
    );
    if (!offer) return failure || <FormSkeleton />;
    if (schedule && offer.projectId !== schedule.project.id)
      return (
        <Note tone="warn" title={t('This schedule cannot be changed')}>
          {t('Its project is archived.')}
        </Note>
      );
    if (offer.projects.length === 0) return <NoProject />;
    return (
      <Suspense fallback={<FormSkeleton />}>
        {failure}
        <TaskForm
          offer={offer}
          from={{
            fields: schedule ? schedule.task : offer.values,
            title: schedule ? schedule.title : clone !== null ? (offer.valuesOf?.title ?? '') : '',
            commit,
          }}
          schedule={schedule}
          startsOnSchedule={startsOnSchedule}
          onProject={setChosen}
        />
      </Suspense>
    );
  }
}

function NoProject() {
  const t = useT();
  const mayCreate = useHasPermission('PROJECT_MANAGEMENT');
  return (
    <EmptyState
      icon={<IconGitBranch size={20} />}
      title={t('A task needs a project')}
      action={
        mayCreate && (
          <Button component={Link} to={paths.newProject()}>
            {t('Create a project')}
          </Button>
        )
      }
    >
      {t('Its repository holds the code that the task runs.')}
    </EmptyState>
  );
}
