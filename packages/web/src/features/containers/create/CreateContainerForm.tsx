import { Group, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { type Container, RestartPolicy } from '@stagi/contract/containers.ts';
import { text } from '@stagi/contract/text.ts';
import { Link, useNavigate } from 'react-router';
import { invalidate } from '../../../api/query.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import type { Server } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import { EnvRows } from '../../../launchForm/EnvRows.tsx';
import { FormSection } from '../../../launchForm/FormSection.tsx';
import { ImageField } from '../../../launchForm/ImageField.tsx';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { TitleAndSlug } from '../../../ui/TitleAndSlug.tsx';
import { toast } from '../../../ui/toasts.ts';
import { RESTART_WORDS } from '../restartWords.ts';
import { DirectoryRows } from './DirectoryRows.tsx';
import { initialValues, toInput, type Values, valuesOf } from './formValues.ts';
import { PortRows } from './PortRows.tsx';
import { ProjectSelect } from './ProjectSelect.tsx';
import { ResourceFields } from './ResourceFields.tsx';
import { ServerSelect } from './ServerSelect.tsx';
import { TemplateOnServer, TemplatePicker } from './TemplatePicker.tsx';
import { useTemplate } from './useTemplate.ts';

interface Props {
  servers: readonly Server[];
  /** The id of the server whose page opened the form. */
  wanted: string | null;
  /** The id of the project whose page opened the form. */
  wantedProject?: string;
  /** The container that is deleted when the new one is created. */
  replaces?: Container;
}

export function CreateContainerForm({ servers, wanted, wantedProject = '', replaces }: Props) {
  const t = useT();
  const navigate = useNavigate();
  const suggested = suggestedServer(servers, wanted);
  const call = useCallForm<typeof api.containers.create, Values>(api.containers.create, {
    initialValues: replaces
      ? valuesOf(replaces)
      : initialValues(suggested, servers.find(({ id }) => String(id) === suggested)?.freeCpus ?? null, wantedProject),
    toInput: (values) => ({ ...toInput(values), replaces: replaces && { id: replaces.id } }),
    alsoCheck: ({ gpuIds, env }): Record<string, string> => ({
      ...(server?.facts?.gpus.length && gpuIds.length === 0 ? { gpuIds: text('GPU is required') } : {}),
      ...missingValues(env),
    }),
    onDone: ({ entity, entities }) => {
      void invalidate('docker-container/', 'instance-rented/', 'self-hosted-instance/', 'project/');
      if (entities.length > 1) toast.success(t('{{count}} containers are being created', { count: entities.length }));
      void navigate(entities.length > 1 ? paths.containers() : paths.container(entity.id));
    },
  });
  const { form, field, submit, loading } = call;
  const server = servers.find(({ id }) => String(id) === form.values.instanceRef);

  const template = useTemplate(form, replaces === undefined);
  const ofTemplate = { choice: template, servers, server };

  return (
    <Form onSubmit={submit}>
      <Stack gap={24}>
        {!replaces && (
          <FormSection title={t('Template')}>
            <TemplatePicker {...ofTemplate} />
          </FormSection>
        )}
        <FormSection title={t('Where')}>
          <ServerSelect
            servers={servers}
            {...field('instanceRef')}
            onChange={(id: string) => form.setValues({ instanceRef: id, gpuIds: [] })}
          />
          <TemplateOnServer {...ofTemplate} />
          <ProjectSelect {...field('projectRef')} />
        </FormSection>
        <FormSection title={t('What')}>
          <TitleAndSlug
            titleLabel={t('Name')}
            title={field('title')}
            slug={field('slug')}
            slugHint={t('Letters, digits and hyphens; one of its kind on the whole platform')}
            placeholder={t('Such as “web” or “training”')}
          />
          <ImageField server={server} bound={field('dockerImage')} testId="container-image" />
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
        </FormSection>
        <FormSection title={t('Resources')}>
          <ResourceFields server={server} form={form} field={field} replaces={replaces} />
        </FormSection>
        <FormSection title={t('Environment, ports, volumes')}>
          <EnvRows form={form} field={field} />
          <PortRows form={form} field={field} />
          <DirectoryRows form={form} field={field} rented={server?.kind === 'rented'} />
        </FormSection>
        <FormSection title={t('Running')}>
          <Select
            label={t('Restart')}
            description={t('When to restart the container after it exits')}
            options={RestartPolicy.options.map((policy) => ({ value: policy, label: t(RESTART_WORDS[policy]) }))}
            {...field('restartPolicy')}
          />
          <NumberInput
            label={t('Copies')}
            description={t('With more than one, Unique IDs end in -1, -2, …')}
            clampBehavior="none"
            allowDecimal={false}
            {...field('count')}
          />
        </FormSection>
        <Group gap={8}>
          <Button type="submit" loading={loading} data-testid="container-submit">
            {t('Create')}
          </Button>
          <Button color="gray" component={Link} to={replaces ? paths.container(replaces.id) : paths.containers()}>
            {t('Cancel')}
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}

/** Variables whose values a template has left open. */
function missingValues(env: Values['env']): Record<string, string> {
  const missing = env.flatMap(({ needed, value }, index) => (needed && value === '' ? [index] : []));
  return Object.fromEntries(missing.map((index) => [`env.${index}.value`, text('Value is required')]));
}

/** The server whose page opened the form, else the only one that is online. */
function suggestedServer(servers: readonly Server[], wanted: string | null): string {
  if (wanted !== null && servers.some(({ id }) => String(id) === wanted)) return wanted;
  const online = servers.filter(({ status, facts }) => status === 'online' && facts !== null);
  return online.length === 1 && online[0] ? String(online[0].id) : '';
}
