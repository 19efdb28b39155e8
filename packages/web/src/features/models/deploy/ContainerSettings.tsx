import type { EngineTemplate } from '@stagi/contract/engineTemplates.ts';
import { withoutKey } from '@stagi/contract/keylessEngine.ts';
import type { CallForm } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { EngineWithoutKey } from '../../../launchForm/EngineWithoutKey.tsx';
import classes from '../../../launchForm/LaunchForm.module.css';
import { Accordion } from '../../../ui/Accordion.tsx';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { RadioGroup } from '../../../ui/form/RadioGroup.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import type { DeployValues } from './deployForm.ts';

interface Props {
  call: CallForm<DeployValues>;
  template: EngineTemplate | undefined;
  /** That of the template, filled in. */
  command: string | null;
}

const FIELDS = ['cpus', 'memoryGb', 'gpuCount', 'port', 'visibility', 'dockerImage', 'command'];

/** What the template fills in of the container. It opens by itself when one of its fields is refused. */
export function ContainerSettings({ call, template, command }: Props) {
  const t = useT();
  const { form, field } = call;
  const isRefused = FIELDS.some((name) => form.errors[name]);
  return (
    <Accordion
      key={isRefused ? 'refused' : 'usual'}
      level={2}
      open={isRefused ? ['container'] : []}
      items={[
        {
          key: 'container',
          title: t('Container'),
          content: (
            <div className={classes.fields}>
              <div className={classes.pair}>
                <NumberInput label={t('CPUs')} step={1} clampBehavior="none" {...field('cpus')} />
                <NumberInput
                  label={t('Memory, GB')}
                  optional
                  description={t('Empty: as much as the server has')}
                  clampBehavior="none"
                  {...field('memoryGb')}
                />
              </div>
              <div className={classes.pair}>
                <NumberInput
                  label={t('GPUs')}
                  optional
                  description={t('Empty: as few as it fits on')}
                  allowDecimal={false}
                  step={1}
                  clampBehavior="none"
                  {...field('gpuCount')}
                />
                <NumberInput
                  label={t('Port on the server')}
                  allowDecimal={false}
                  step={1}
                  clampBehavior="none"
                  {...field('port')}
                />
              </div>
              <RadioGroup
                label={t('Who may open the port')}
                inline
                {...field('visibility')}
                value={form.values.visibility}
                onChange={(next: DeployValues['visibility']) => form.setValues({ visibility: next })}
                options={[
                  { value: 'private', label: t('Members of this workspace') },
                  { value: 'public', label: t('Everybody who has its address') },
                ]}
              />
              {form.values.visibility === 'public' && template && (
                <EngineWithoutKey
                  engine={withoutKey(template, {
                    command: form.values.command || command,
                    variables: template.keyVariable === null ? [] : [template.keyVariable],
                  })}
                />
              )}
              <TextInput
                label={t('Image')}
                optional
                description={t('Empty: that of the engine')}
                placeholder={template?.image.gpu}
                spellCheck={false}
                data-testid="deploy-image"
                {...field('dockerImage')}
              />
              <Textarea
                label={t('Command')}
                optional
                description={t('Empty: that of the engine')}
                placeholder={command ?? undefined}
                minRows={1}
                maxRows={6}
                spellCheck={false}
                mono
                {...field('command')}
              />
            </div>
          ),
        },
      ]}
    />
  );
}
