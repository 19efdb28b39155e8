import { api } from '@stagi/contract/api.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import classes from './Projects.module.css';

/** Fetches a public repository into an empty project; after a failed import it holds the address that was tried. */
export function ImportForm({ project: { id, import: last } }: { project: Project }) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.projects.import, {
    initialValues: { url: last?.url ?? '' },
    toInput: (values) => ({ id, ...values }),
    onDone: () => void invalidate('project/'),
  });
  return (
    <Form onSubmit={submit} className={classes.importForm}>
      <TextInput
        label={t('The https address of a public repository')}
        autoComplete="off"
        spellCheck={false}
        classNames={{ input: 'mono' }}
        data-testid="import-url"
        {...field('url')}
      />
      <div>
        <Button type="submit" color="gray" loading={loading} data-testid="import-submit">
          {t('Import')}
        </Button>
      </div>
    </Form>
  );
}
