import { STOP_GRACE } from '@stagi/contract/containerFields.ts';
import type { FieldProps } from '../api/useCallForm.ts';
import { useT } from '../i18n/i18n.ts';
import { NumberInput } from '../ui/form/NumberInput.tsx';

interface Props {
  bound: FieldProps;
  /** The agent of the server is too old to give more. */
  stopsInTenSeconds: boolean;
  ofTask?: boolean;
}

/** The time that programs have to end once they are told to. */
export function StopGraceField({ bound, stopsInTenSeconds, ofTask = false }: Props) {
  const t = useT();
  const { least, most } = STOP_GRACE;
  return (
    <NumberInput
      label={t('Time to stop, s')}
      description={description()}
      step={10}
      clampBehavior="none"
      allowDecimal={false}
      {...bound}
      data-testid="stop-grace"
    />
  );

  function description(): string {
    if (stopsInTenSeconds)
      return t('The agent of this server is too old for this: it kills programs after 10 s. Install it again');
    return ofTask
      ? t(
          'At a cancel or the time limit the command gets SIGTERM and has this long to save its work, {{least}} to {{most}} s',
          { least, most },
        )
      : t(
          'When it is stopped, restarted or changed, its programs get the stop signal and have this long to end, {{least}} to {{most}} s',
          { least, most },
        );
  }
}
