import { RestartPolicy } from '@stagi/contract/containerFields.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { volumeRootsOf } from '@stagi/contract/policy.ts';
import type { ReactNode } from 'react';
import type { Server } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import { EnvRows } from '../../../launchForm/EnvRows.tsx';
import { FormSection } from '../../../launchForm/FormSection.tsx';
import { ImageField } from '../../../launchForm/ImageField.tsx';
import classes from '../../../launchForm/LaunchForm.module.css';
import { StopGraceField } from '../../../launchForm/StopGraceField.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { RegistriesButton } from '../registries/RegistriesButton.tsx';
import { RESTART_WORDS } from '../restartWords.ts';
import type { ContainerFormProps } from './containerForm.ts';
import { DirectoryRows } from './DirectoryRows.tsx';
import { HealthCheckFields } from './HealthCheckFields.tsx';
import { EntrypointField, isOldAgent, UserFields } from './LaunchFields.tsx';
import { PortRows } from './PortRows.tsx';
import { ResourceFields } from './ResourceFields.tsx';

interface Props extends ContainerFormProps {
  server: Server | undefined;
  /** The container that is edited, if any. */
  edited?: Container;
  /** The fields of its name. */
  name: ReactNode;
  /** Below the other fields of how it runs. */
  more?: ReactNode;
}

/** What the forms of a new and of an existing container have in common. */
export function ContainerFields({ server, form, field, edited, name, more }: Props) {
  const t = useT();
  return (
    <>
      <FormSection title={t('What')}>
        {name}
        <div>
          <ImageField server={server} bound={field('dockerImage')} testId="container-image" />
          <div className={classes.below}>
            <RegistriesButton />
          </div>
        </div>
        <Textarea
          label={t('Command')}
          description={t(
            'Leave empty for the image’s own. Parsed like a shell command, but run without a shell: for pipes and variables use sh -c "…"',
          )}
          placeholder={'python -u train.py --epochs 10'}
          minRows={1}
          maxRows={8}
          spellCheck={false}
          mono
          {...field('command')}
        />
        <EntrypointField field={field} />
      </FormSection>
      <FormSection title={t('Resources')}>
        <ResourceFields server={server} form={form} field={field} edited={edited} />
      </FormSection>
      <FormSection title={t('Environment, ports, volumes')}>
        <EnvRows form={form} field={field} withSecrets />
        <PortRows form={form} field={field} />
        <DirectoryRows form={form} field={field} roots={server ? volumeRootsOf(server) : ['/']} />
      </FormSection>
      <FormSection title={t('Running', { context: 'section' })}>
        <Select
          label={t('Restart', { context: 'policy' })}
          description={t('When to restart the container after it exits')}
          options={RestartPolicy.options.map((policy) => ({ value: policy, label: t(RESTART_WORDS[policy]) }))}
          {...field('restartPolicy')}
        />
        <UserFields server={server} form={form} field={field} edited={edited} />
        <HealthCheckFields form={form} field={field} />
        <StopGraceField bound={field('stopGraceSeconds')} stopsInTenSeconds={isOldAgent(server)} />
        {more}
      </FormSection>
    </>
  );
}
