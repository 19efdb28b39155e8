import { useT } from '../../../i18n/i18n.ts';
import classes from '../../../launchForm/LaunchForm.module.css';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import type { ContainerFormProps } from './containerForm.ts';

/** The times are shown once there is a command. */
export function HealthCheckFields({ form, field }: ContainerFormProps) {
  const t = useT();
  const whole = { clampBehavior: 'none', allowDecimal: false } as const;
  return (
    <>
      <TextInput
        label={t('Health check')}
        optional
        description={t(
          'A shell command in the container; it is healthy while this ends with 0. Leave empty for the image’s own',
        )}
        placeholder="curl -f localhost:8000"
        spellCheck={false}
        classNames={{ input: 'mono' }}
        {...field('healthCheck.command')}
      />
      {form.values.healthCheck.command.trim() !== '' && (
        <div className={classes.pair}>
          <NumberInput label={t('Check every, s')} {...whole} {...field('healthCheck.intervalSeconds')} />
          <NumberInput label={t('Time limit of a check, s')} {...whole} {...field('healthCheck.timeoutSeconds')} />
          <NumberInput label={t('Unhealthy after failures')} {...whole} {...field('healthCheck.retries')} />
          <NumberInput
            label={t('Time to start, s')}
            title={t('Failures in this time after a start do not count')}
            {...whole}
            {...field('healthCheck.startPeriodSeconds')}
          />
        </div>
      )}
    </>
  );
}
