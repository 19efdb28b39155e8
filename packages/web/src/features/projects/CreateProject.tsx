import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { useNavigate } from 'react-router';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { useAddressParams } from '../../navigation/useAddressParams.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { TitleAndSlug } from '../../ui/TitleAndSlug.tsx';
import { PlanProjects } from './PlanProjects.tsx';
import { PlanUse } from './PlanUse.tsx';

/** The form of a new project, at the side of the list while the address has `?new`. */
export function CreateProject() {
  const t = useT();
  const [params, changeParams] = useAddressParams();
  const opened = params.has('new');

  function close(): void {
    changeParams((next) => next.delete('new'), { replace: true });
  }

  return (
    <Dialog
      opened={opened}
      onClose={close}
      routed
      placement="right"
      title={t('Create a project')}
      testId="project-dialog"
    >
      {opened && <Fields />}
    </Dialog>
  );
}

function Fields() {
  const t = useT();
  const navigate = useNavigate();
  const { field, submit, loading } = useCallForm(api.projects.create, {
    initialValues: { title: '', slug: '', description: '', importUrl: '' },
    toInput: ({ importUrl, ...values }) => ({ ...values, importUrl: importUrl.trim() || undefined }),
    onDone: ({ entity }) => {
      void invalidate('project/');
      void navigate(paths.project(entity.id));
    },
  });
  return (
    <Form onSubmit={submit}>
      <Stack gap={20}>
        <Stack gap={16}>
          <TitleAndSlug
            title={field('title')}
            slug={field('slug')}
            placeholder={t('Such as “trainer”')}
            slugHint={t('Also the name of the repository: letters, digits and hyphens')}
          />
          <Textarea label={t('Description')} optional {...field('description')} />
          <TextInput
            label={t('Import from')}
            optional
            description={t('The https address of a public repository. Without one the project is empty.')}
            autoComplete="off"
            spellCheck={false}
            data-testid="project-import-url"
            {...field('importUrl')}
          />
        </Stack>
        <PlanProjects />
        <PlanUse />
        <Button type="submit" loading={loading} size="m" fullWidth data-testid="project-submit">
          {t('Create')}
        </Button>
      </Stack>
    </Form>
  );
}
