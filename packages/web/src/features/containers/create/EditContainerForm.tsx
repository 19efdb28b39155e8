import { Group, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { text } from '@stagi/contract/text.ts';
import { Link, useNavigate } from 'react-router';
import { invalidate, queryClient } from '../../../api/query.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import { useEditVersion } from '../../../api/useEditVersion.ts';
import type { Server } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { OvertakenNote } from '../../../ui/OvertakenNote.tsx';
import { ContainerFields } from './ContainerFields.tsx';
import { toEdit, type Values, valuesOf } from './formValues.ts';
import { mostCapabilities } from './LaunchFields.tsx';
import { ProjectSelect } from './ProjectSelect.tsx';

/** Nothing that was typed is lost when the change is refused. */
export function EditContainerForm({ container, server }: { container: Container; server: Server | undefined }) {
  const t = useT();
  const navigate = useNavigate();
  const edit = useEditVersion(container.version, () => void invalidate('docker-container/'));
  const { form, field, submit, loading } = useCallForm<typeof api.containers.edit, Values>(api.containers.edit, {
    initialValues: valuesOf(container),
    toInput: (values) => ({
      ...toEdit(values, mostCapabilities(server)),
      ref: { id: container.id },
      version: edit.version,
    }),
    onRefused: edit.onRefused,
    alsoCheck: ({ gpuIds }): Record<string, string> =>
      server?.facts?.gpus.length && gpuIds.length === 0 ? { gpuIds: text('GPU is required') } : {},
    onDone: (answer) => {
      queryClient.setQueryData([api.containers.view.path, { id: container.id }], answer);
      void invalidate('docker-container/', 'instance-rented/', 'self-hosted-instance/', 'project/');
      void navigate(paths.container(container.id));
    },
  });

  return (
    <Form onSubmit={submit}>
      <Stack gap={24}>
        <ContainerFields
          server={server}
          form={form}
          field={field}
          edited={container}
          name={
            <>
              <TextInput label={t('Name')} limit={100} data-testid="container-title" {...field('title')} />
              <ProjectSelect {...field('projectRef')} />
            </>
          }
        />
        <OvertakenNote shown={edit.isOvertaken} />
        <Group gap={8}>
          <Button type="submit" loading={loading} data-testid="container-save">
            {t('Save')}
          </Button>
          <Button color="gray" component={Link} to={paths.container(container.id)}>
            {t('Cancel')}
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}
