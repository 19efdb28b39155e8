import { api } from '@stagi/contract/api.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { invalidate } from '../../../api/query.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import { useEditVersion } from '../../../api/useEditVersion.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { OvertakenNote } from '../../../ui/OvertakenNote.tsx';
import { toast } from '../../../ui/toasts.ts';
import classes from './Settings.module.css';

/** Title and description. The Unique ID stays: the addresses that people cloned hang on it. */
export function GeneralForm({ project }: { project: Project }) {
  const t = useT();
  const { id, title, description } = project;
  const edit = useEditVersion(project.version, () => void invalidate('project/'));
  const { form, field, submit, loading } = useCallForm(api.projects.edit, {
    initialValues: { title, description },
    toInput: (values) => ({ id, ...values, version: edit.version }),
    onRefused: edit.onRefused,
    onDone: ({ entity }) => {
      void invalidate('project/', 'docker-container/');
      form.setInitialValues({ title: entity.title, description: entity.description });
      form.reset();
      edit.begin(entity.version);
      toast.success(t('The project has been saved'));
    },
  });
  const verdict = projectCan.change(project);
  return (
    <Form onSubmit={submit} className={classes.fields}>
      <TextInput label={t('Title')} limit={100} autoComplete="off" {...field('title')} />
      <Textarea label={t('Description')} optional {...field('description')} />
      <OvertakenNote shown={edit.isOvertaken} />
      <div className={classes.buttons}>
        <Button
          type="submit"
          loading={loading}
          disabled={!form.isDirty()}
          reason={verdict.allowed ? null : t(verdict.reason)}
          data-testid="project-save"
        >
          {t('Save')}
        </Button>
        {edit.isOvertaken && (
          <Button color="gray" onClick={takeOver} data-testid="project-take-over">
            {t('Show what they entered')}
          </Button>
        )}
      </div>
    </Form>
  );

  function takeOver(): void {
    form.setInitialValues({ title, description });
    form.reset();
    edit.begin(project.version);
  }
}
