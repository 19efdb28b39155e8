import { Group, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { text } from '@stagi/contract/text.ts';
import { Link, useNavigate } from 'react-router';
import { track } from '../../../api/analytics.ts';
import { invalidate } from '../../../api/query.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import type { Server } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import { FormSection } from '../../../launchForm/FormSection.tsx';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { TitleAndSlug } from '../../../ui/TitleAndSlug.tsx';
import { toast } from '../../../ui/toasts.ts';
import { ContainerFields } from './ContainerFields.tsx';
import { cloneValuesOf, initialValues, toInput, type Values } from './formValues.ts';
import { mostCapabilities } from './LaunchFields.tsx';
import { ProjectSelect } from './ProjectSelect.tsx';
import { ServerSelect } from './ServerSelect.tsx';
import { TemplateOnServer, TemplatePicker } from './TemplatePicker.tsx';
import { directoriesOn, useTemplate } from './useTemplate.ts';

interface Props {
  servers: readonly Server[];
  /** The id of the server whose page opened the form. */
  wanted: string | null;
  /** The id of the project whose page opened the form. */
  wantedProject?: string;
  /** The container that the new one is made after. */
  original?: Container;
}

export function CreateContainerForm({ servers, wanted, wantedProject = '', original }: Props) {
  const t = useT();
  const navigate = useNavigate();
  const suggested = suggestedServer(servers, wanted);
  const serverOf = ({ instanceRef }: Values) => servers.find(({ id }) => String(id) === instanceRef);
  const call = useCallForm<typeof api.containers.create, Values>(api.containers.create, {
    initialValues: original
      ? cloneValuesOf(original, t('{{title}} (copy)', { title: original.title }))
      : initialValues(suggested, servers.find(({ id }) => String(id) === suggested)?.freeCpus ?? null, wantedProject),
    toInput: (values): object => ({
      ...toInput(values, mostCapabilities(serverOf(values))),
      cloneOf: original && { id: original.id },
    }),
    alsoCheck: ({ gpuIds, env }): Record<string, string> => ({
      ...(server?.facts?.gpus.length && gpuIds.length === 0 ? { gpuIds: text('GPU is required') } : {}),
      ...missingValues(env),
    }),
    onDone: ({ entity, entities }) => {
      if (original) track('container_cloned', { clone_ID: entity.id });
      void invalidate('docker-container/', 'instance-rented/', 'self-hosted-instance/', 'project/');
      if (entities.length > 1) toast.success(t('{{count}} containers are being created', { count: entities.length }));
      void navigate(entities.length > 1 ? paths.containers() : paths.container(entity.id));
    },
  });
  const { form, field, submit, loading } = call;
  const server = serverOf(form.values);

  const template = useTemplate(form, { enabled: original === undefined, server });
  const ofTemplate = { choice: template, servers, server };

  return (
    <Form onSubmit={submit}>
      <Stack gap={24}>
        {!original && (
          <FormSection title={t('Template')}>
            <TemplatePicker {...ofTemplate} />
          </FormSection>
        )}
        <FormSection title={t('Where')}>
          <ServerSelect
            servers={servers}
            {...field('instanceRef')}
            onChange={(id: string) =>
              form.setValues({
                instanceRef: id,
                gpuIds: [],
                directoryMappings: directoriesOn(
                  servers.find((one) => String(one.id) === id),
                  form.values,
                ),
              })
            }
          />
          <TemplateOnServer {...ofTemplate} />
          <ProjectSelect {...field('projectRef')} />
        </FormSection>
        <ContainerFields
          server={server}
          form={form}
          field={field}
          name={
            <TitleAndSlug
              titleLabel={t('Name')}
              title={field('title')}
              slug={field('slug')}
              slugHint={t('Letters, digits and hyphens; one of its kind on the whole platform')}
              placeholder={t('Such as “web” or “training”')}
            />
          }
          more={
            <NumberInput
              label={t('Copies')}
              description={t('With more than one, Unique IDs end in -1, -2, …')}
              clampBehavior="none"
              allowDecimal={false}
              {...field('count')}
            />
          }
        />
        <Group gap={8}>
          <Button type="submit" loading={loading} data-testid="container-submit">
            {t('Create')}
          </Button>
          <Button color="gray" component={Link} to={original ? paths.container(original.id) : paths.containers()}>
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
