import { type CronFault, cronFault } from '@stagi/contract/cronRules.ts';
import { text } from '@stagi/contract/text.ts';
import { useT } from '../../../i18n/i18n.ts';
import launch from '../../../launchForm/LaunchForm.module.css';
import { FormItem } from '../../../ui/form/FormItem.tsx';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { TIME_MASK } from '../../../ui/kitConstants.ts';
import { cronOf, EVERY } from '../schedules/cron.ts';
import { everyWord, weekdayName } from '../schedules/scheduleWords.ts';
import { timeZones } from '../schedules/timeZones.ts';
import { TIMES_SHOWN, useNextTimes } from '../schedules/useNextTimes.ts';
import { ZonedTime } from '../schedules/ZonedTime.tsx';
import classes from './TaskForm.module.css';
import type { TaskFormProps } from './taskOffer.ts';

const FIVE_FIELDS: CronFault = {
  template: text('Enter five fields: minute, hour, day of the month, month, day of the week'),
  values: {},
};

/** From Monday on. */
const WEEK = [1, 2, 3, 4, 5, 6, 0];

/** When a task is started again and again, and when that will be next. */
export function ScheduleFields({ form, field }: Pick<TaskFormProps, 'form' | 'field'>) {
  const t = useT();
  const { every, weekday, timeZone } = form.values;
  const cronAsked = cronOf(form.values);
  const next = useNextTimes(cronAsked, timeZone);
  const cron = field('cron');
  const fault = cronAsked === null ? null : (cronFault(cronAsked) ?? (next.is === 'wrong' ? FIVE_FIELDS : null));
  return (
    <>
      <TextInput
        label={t('Title')}
        placeholder={t('Such as “nightly evaluation”')}
        autoComplete="off"
        limit={100}
        {...field('title')}
        data-testid="schedule-title"
      />
      <div className={launch.pair}>
        <Select
          label={t('Repeat')}
          options={EVERY.map((value) => ({ value, label: everyWord(t, value) }))}
          mayBeEmpty
          {...field('every')}
          onChange={(value: string | null) => form.setFieldValue('every', EVERY.find((one) => one === value) ?? every)}
          data-testid="schedule-every"
        />
        {every === 'week' && (
          <Select
            label={t('Day of the week')}
            options={WEEK.map((day) => ({ value: day, label: weekdayName(day) }))}
            mayBeEmpty
            value={weekday}
            onChange={(day: number | null) => form.setFieldValue('weekday', day ?? weekday)}
            data-testid="schedule-weekday"
          />
        )}
        {every === 'hour' && (
          <NumberInput
            label={t('Minutes past the hour')}
            min={0}
            max={59}
            clampBehavior="none"
            allowDecimal={false}
            {...field('minute')}
            data-testid="schedule-minute"
          />
        )}
        {(every === 'day' || every === 'weekdays' || every === 'week') && (
          <TextInput
            label={t('Time', { context: 'clock' })}
            mask={TIME_MASK}
            placeholder="02:00"
            classNames={{ input: 'mono' }}
            {...field('time')}
            data-testid="schedule-time"
          />
        )}
        {every === 'custom' && (
          <TextInput
            label={t('Cron expression')}
            placeholder="*/15 9-17 * * 1-5"
            autoComplete="off"
            spellCheck={false}
            classNames={{ input: 'mono' }}
            {...cron}
            error={cron.error ?? (fault ? t(fault.template, fault.values) : undefined)}
            data-testid="schedule-cron"
          />
        )}
      </div>
      <Select
        label={t('Time zone')}
        options={timeZones(timeZone).map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }))}
        mayBeEmpty
        {...field('timeZone')}
        onChange={(zone: string | null) => form.setFieldValue('timeZone', zone ?? timeZone)}
        data-testid="schedule-zone"
      />
      {next.is === 'unknown' && cronAsked !== null && (
        <FormItem label={t('Next times')} group="group">
          <ul className={classes.times} aria-busy="true">
            {Array.from({ length: TIMES_SHOWN }, (_, line) => line).map((line) => (
              <li key={line} className="mono">
                …
              </li>
            ))}
          </ul>
        </FormItem>
      )}
      {next.is === 'known' && (
        <FormItem label={t('Next times')} group="group">
          {next.times.length === 0 ? (
            <span className="muted">{t('No upcoming times')}</span>
          ) : (
            <ul className={classes.times} data-testid="schedule-next">
              {next.times.map((at) => (
                <li key={at.getTime()}>
                  <ZonedTime at={at} timeZone={timeZone} />
                </li>
              ))}
            </ul>
          )}
        </FormItem>
      )}
    </>
  );
}
