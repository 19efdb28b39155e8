import { Group } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { TaskFields } from '@stagi/contract/taskFields.ts';
import type { TaskSchedule } from '@stagi/contract/taskSchedules.ts';
import { text } from '@stagi/contract/text.ts';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { invalidate } from '../../../api/query.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import { useEditVersion } from '../../../api/useEditVersion.ts';
import { useT } from '../../../i18n/i18n.ts';
import { EnvRows } from '../../../launchForm/EnvRows.tsx';
import { FormSection } from '../../../launchForm/FormSection.tsx';
import { ImageField } from '../../../launchForm/ImageField.tsx';
import launch from '../../../launchForm/LaunchForm.module.css';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { RadioGroup } from '../../../ui/form/RadioGroup.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { OvertakenNote } from '../../../ui/OvertakenNote.tsx';
import { toast } from '../../../ui/toasts.ts';
import { cronOf, type Every, timingOf } from '../schedules/cron.ts';
import { ownTimeZone } from '../schedules/timeZones.ts';
import { BeforeStart } from './BeforeStart.tsx';
import { CommitField } from './CommitField.tsx';
import { InputPathField } from './InputPathField.tsx';
import { MoreFields } from './MoreFields.tsx';
import { ProjectGaps } from './ProjectGaps.tsx';
import { ResourceFields, resourceProblems } from './ResourceFields.tsx';
import { ScheduleFields } from './ScheduleFields.tsx';
import { ServerSelect } from './ServerSelect.tsx';
import { StorageSelect } from './StorageSelect.tsx';
import classes from './TaskForm.module.css';
import { serverOf, type TaskOffer } from './taskOffer.ts';
import { initialValues, keepsValues, scheduleInput, taskInput, type Values } from './taskValues.ts';

type TaskCall = typeof api.tasks.create | typeof api.tasks.createSchedule | typeof api.tasks.editSchedule;

interface Props {
  /** Of the chosen project. */
  offer: TaskOffer;
  /** What the form is filled in from, and its own title if it has one. */
  from: { fields: TaskFields | null; title: string; commit: string | null };
  /** The schedule to edit. */
  schedule: TaskSchedule | null;
  startsOnSchedule: boolean;
  onProject(id: number): void;
}

export function TaskForm({ offer, from, schedule, startsOnSchedule, onProject }: Props) {
  const t = useT();
  const navigate = useNavigate();
  const [when, setWhen] = useState<'now' | 'schedule'>(schedule || startsOnSchedule ? 'schedule' : 'now');
  const isScheduled = when === 'schedule';
  // The form keeps what it was filled in from, whatever is offered later.
  const [source] = useState(offer.valuesOf);
  const edit = useEditVersion(schedule?.version, () => void invalidate('task/schedule/'));
  const call = useCallForm<TaskCall, Values>(callOf(schedule, isScheduled), {
    initialValues: firstValues(offer, from, schedule),
    toInput: (values) => inputOf(values),
    onRefused: edit.onRefused,
    fieldOf: (path): string => {
      const own = path.replace(/^task\./, '');
      return own === 'cron' ? TIME_FIELD[form.values.every] : own;
    },
    alsoCheck: (values) => {
      const { cpus, gpus } = resourceProblems(serverOf(offer, values), values);
      return {
        ...(cpus !== undefined && { cpus: t('CPUs: at most {{cpus}} on this server', { cpus }) }),
        ...(gpus !== undefined && {
          gpuCount: gpus === 0 ? t('This server has no GPUs') : t('GPUs: at most {{gpus}} on this server', { gpus }),
        }),
        ...(isScheduled && wrongTime(values)),
      };
    },
    onDone: ({ entity }) => {
      void invalidate('task/', 'project/', 'docker-container/');
      if ('cron' in entity) {
        toast.success(t('The schedule is saved'));
        void navigate(paths.project(entity.project.id, 'tasks'));
      } else {
        toast.success(t('Task started'));
        void navigate(paths.task(entity.id));
      }
    },
  });
  const { form, field, submit, loading } = call;
  const { values } = form;
  const server = serverOf(offer, values);
  const project = offer.projects.find(({ id }) => String(id) === values.projectRef);
  const storage = offer.storages.find(({ id }) => String(id) === values.storageRef);
  /** While those of another project are read, nothing of the old one can be chosen. */
  const isOffered = String(offer.projectId ?? '') === values.projectRef;

  return (
    <Form onSubmit={submit} className={classes.columns} data-testid="task-form">
      <div className={classes.sections}>
        <FormSection title={t('Code')}>
          <Select
            label={t('Project')}
            options={offer.projects.map(({ id, title }) => ({ value: String(id), label: title }))}
            disabled={schedule !== null}
            {...field('projectRef')}
            onChange={chooseProject}
            data-testid="task-project"
          />
          {project && <ProjectGaps project={project} offer={isOffered ? offer : null} />}
          <CommitField
            projectId={project && !project.isEmpty ? project.id : null}
            bound={field('commit')}
            isScheduled={isScheduled}
          />
          <ImageField server={server} bound={field('image')} testId="task-image" />
          <Textarea
            label={t('Launch command')}
            description={t('Run by /bin/sh in the folder of the code, so pipes and variables work')}
            placeholder={'pip install -r requirements.txt && python train.py --data $STAGI_INPUT_PATH'}
            minRows={2}
            maxRows={8}
            spellCheck={false}
            mono
            {...field('command')}
            data-testid="task-command"
          />
          <EnvRows form={form} field={field} throughShell />
        </FormSection>
        <FormSection title={t('Server')}>
          <ServerSelect servers={isOffered ? offer.instances : []} {...field('instanceRef')} />
          <ResourceFields form={form} field={field} offer={offer} />
        </FormSection>
        <FormSection title={t('Data')}>
          <StorageSelect storages={offer.storages} {...field('storageRef')} />
          <InputPathField storage={storage} bound={field('inputUrlPath')} />
          <div className={launch.pair}>
            <TextInput
              label={t('Input path')}
              description={t('Where the input is put in the container')}
              placeholder="/input"
              spellCheck={false}
              autoComplete="off"
              classNames={{ input: 'mono' }}
              {...field('inputPath')}
              data-testid="task-input-path"
            />
            <TextInput
              label={t('Output path')}
              description={t('Kept in the storage at the end')}
              placeholder="/output"
              spellCheck={false}
              autoComplete="off"
              classNames={{ input: 'mono' }}
              {...field('outputPath')}
              data-testid="task-output-path"
            />
          </div>
        </FormSection>
        <FormSection title={t('Start', { context: 'beginning' })}>
          {!schedule && (
            <RadioGroup
              label={t('When')}
              options={[
                { value: 'now', label: t('Now') },
                { value: 'schedule', label: t('On a schedule') },
              ]}
              inline
              value={when}
              onChange={setWhen}
            />
          )}
          {isScheduled && <ScheduleFields form={form} field={field} />}
          <MoreFields
            form={form}
            field={field}
            withTitle={!isScheduled}
            stopsInTenSeconds={server?.stopsInTenSeconds ?? false}
          />
        </FormSection>
      </div>
      <aside className={classes.summary}>
        <div className={classes.sticky}>
          <BeforeStart offer={offer} values={values} isScheduled={isScheduled} />
        </div>
      </aside>
      <OvertakenNote shown={edit.isOvertaken} />
      <Group gap={8} className={classes.buttons}>
        <Button type="submit" loading={loading} data-testid="task-submit">
          {submitWord()}
        </Button>
        <Button color="gray" component={Link} to={project ? paths.project(project.id, 'tasks') : paths.projects()}>
          {t('Cancel')}
        </Button>
      </Group>
    </Form>
  );

  function chooseProject(id: string | null): void {
    const chosen = offer.projects.find((one) => String(one.id) === id);
    form.setValues({ projectRef: id ?? '', instanceRef: '', commit: chosen?.defaultBranch ?? '' });
    if (chosen) onProject(chosen.id);
  }

  function inputOf(values: Values): object {
    const task = taskInput(values);
    if (schedule) return { id: schedule.id, ...scheduleInput(values), task, version: edit.version };
    return {
      ...task,
      ...(isScheduled ? scheduleInput(values) : { title: values.title.trim() || undefined }),
      cloneOf: source && keepsValues(values) ? { id: source.id } : undefined,
    };
  }

  function submitWord(): string {
    if (schedule) return t('Save');
    return isScheduled ? t('Create the schedule') : t('Start the task');
  }
}

function callOf(schedule: TaskSchedule | null, isScheduled: boolean): TaskCall {
  if (schedule) return api.tasks.editSchedule;
  return isScheduled ? api.tasks.createSchedule : api.tasks.create;
}

function firstValues(
  offer: TaskOffer,
  { fields, title, commit }: Props['from'],
  schedule: TaskSchedule | null,
): Values {
  const values = initialValues(offer, fields, schedule?.timeZone ?? ownTimeZone());
  return { ...values, ...(schedule && timingOf(schedule.cron)), title, commit: commit ?? values.commit };
}

/** Where the refusal of an expression stands, as the form makes it of several fields. */
const TIME_FIELD: Record<Every, 'minute' | 'time' | 'cron'> = {
  hour: 'minute',
  day: 'time',
  weekdays: 'time',
  week: 'time',
  custom: 'cron',
};

const WRONG_TIME = text('Enter a time like 02:30');
const WRONG_MINUTE = text('Enter a minute from 0 to 59');

/** A time or minute that is typed but none. */
function wrongTime(values: Values): Record<string, string> {
  if (cronOf(values) !== null || values.every === 'custom') return {};
  return values.every === 'hour' ? { minute: WRONG_MINUTE } : { time: WRONG_TIME };
}
