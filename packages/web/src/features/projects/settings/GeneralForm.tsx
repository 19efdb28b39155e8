import { api } from '@stagi/contract/api.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { invalidate } from '../../../api/query.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { toast } from '../../../ui/toasts.ts';
import classes from './Settings.module.css';

/** Title and description. The Unique ID stays: the addresses that people cloned hang on it. */
export function GeneralForm({ project }: { project: Project }) {
  const t = useT();
  const { id, title, description } = project;
  const { form, field, submit, loading } = useCallForm(api.projects.edit, {
    initialValues: { title, description },
    toInput: (values) => ({ id, ...values }),
    onDone: ({ entity }) => {
      void invalidate('project/', 'docker-container/');
      form.setInitialValues({ title: entity.title, description: entity.description });
      form.reset();
      toast.success(t('The project has been saved'));
    },
  });
  const verdict = projectCan.change(project);
  return (
    <Form onSubmit={submit} className={classes.fields}>
      <TextInput label={t('Title')} limit={100} autoComplete="off" {...field('title')} />
      <Textarea label={t('Description')} optional {...field('description')} />
      <div>
        <Button
          type="submit"
          loading={loading}
          disabled={!form.isDirty()}
          reason={verdict.allowed ? null : t(verdict.reason)}
          data-testid="project-save"
        >
          {t('Save')}
        </Button>
      </div>
    </Form>
  );
}
