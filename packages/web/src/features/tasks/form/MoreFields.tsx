import { DEFAULT_CODE_PATH, TASK_RETRIES_MAX, TaskPriority } from '@stagi/contract/taskRules.ts';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import launch from '../../../launchForm/LaunchForm.module.css';
import { StopGraceField } from '../../../launchForm/StopGraceField.tsx';
import { Checkbox } from '../../../ui/form/Checkbox.tsx';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { RadioGroup } from '../../../ui/form/RadioGroup.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { priorityWord } from '../priorityWords.ts';
import classes from './TaskForm.module.css';
import type { TaskFormProps } from './taskOffer.ts';

const FIELDS = ['codePath', 'timeLimitMinutes', 'stopGraceSeconds', 'retries', 'priority'];

interface Props extends Pick<TaskFormProps, 'form' | 'field'> {
  /** A schedule has its title elsewhere. */
  withTitle: boolean;
  /** The agent of the chosen server is too old to give more. */
  stopsInTenSeconds: boolean;
}

/** What most tasks leave as it is: folded, with what it is now. Opens when one of its fields is wrong. */
export function MoreFields({ form, field, withTitle, stopsInTenSeconds }: Props) {
  const t = useT();
  const id = useId();
  const [opened, setOpened] = useState(false);
  const fields = withTitle ? ['title', ...FIELDS] : FIELDS;
  // It stays open when the error goes: that is while the field is being typed in.
  if (!opened && fields.some((path) => field(path).error)) setOpened(true);
  const Icon = opened ? IconChevronDown : IconChevronRight;
  return (
    <>
      <div>
        <button
          type="button"
          className={classes.fold}
          aria-expanded={opened}
          aria-controls={id}
          onClick={() => setOpened(!opened)}
          data-testid="task-more"
        >
          <span className={classes.foldName}>
            <Icon size={16} aria-hidden="true" />
            {opened ? t('Fewer settings') : t('More settings')}
          </span>
          {!opened && <span className={classes.foldNow}>{now()}</span>}
        </button>
      </div>
      {opened && (
        <div id={id} className={launch.fields}>
          {withTitle && (
            <TextInput
              label={t('Title')}
              optional
              description={t('Without one, the message of the commit')}
              autoComplete="off"
              limit={100}
              {...field('title')}
              data-testid="task-title"
            />
          )}
          <TextInput
            label={t('Code path')}
            description={t('Where the files of the commit are put, and the command is run')}
            placeholder={DEFAULT_CODE_PATH}
            spellCheck={false}
            autoComplete="off"
            classNames={{ input: 'mono' }}
            {...field('codePath')}
            data-testid="task-code-path"
          />
          <div className={launch.pair}>
            <NumberInput
              label={t('Time limit, minutes')}
              optional
              description={t('The command is stopped after it; empty: no limit')}
              clampBehavior="none"
              allowDecimal={false}
              {...field('timeLimitMinutes')}
              data-testid="task-time-limit"
            />
            <StopGraceField bound={field('stopGraceSeconds')} stopsInTenSeconds={stopsInTenSeconds} ofTask />
          </div>
          <NumberInput
            label={t('Retries')}
            description={t('When its server or container fails, at most {{max}} times', { max: TASK_RETRIES_MAX })}
            clampBehavior="none"
            allowDecimal={false}
            {...field('retries')}
            data-testid="task-retries"
          />
          <Checkbox
            label={t('Also on a non-zero exit code')}
            description={t('Retries when the command itself fails too')}
            disabled={!(Number(form.values.retries) > 0)}
            {...field('retryOnFailure', { type: 'checkbox' })}
            data-testid="task-retry-on-failure"
          />
          <RadioGroup
            label={t('Priority')}
            description={t('Tasks of a higher priority start first on their server')}
            options={TaskPriority.options.map((value) => ({ value, label: priorityWord(t, value) }))}
            inline
            {...field('priority')}
            value={form.values.priority}
          />
        </div>
      )}
    </>
  );

  function now(): string {
    const { title, codePath, timeLimitMinutes, stopGraceSeconds, retries, retryOnFailure, priority } = form.values;
    return [
      ...(withTitle && title.trim() !== '' ? [`“${title.trim()}”`] : []),
      codePath,
      timeLimitMinutes === ''
        ? t('no time limit')
        : t('at most {{count}} minutes', { count: Number(timeLimitMinutes) }),
      t('{{seconds}} s to stop', { seconds: stopGraceSeconds }),
      Number(retries) > 0 ? t('{{count}} retries', { count: Number(retries) }) : t('no retries'),
      ...(Number(retries) > 0 && retryOnFailure ? [t('also on a non-zero exit code')] : []),
      t('priority: {{priority}}', { priority: priorityWord(t, priority).toLowerCase() }),
    ].join(' · ');
  }
}
