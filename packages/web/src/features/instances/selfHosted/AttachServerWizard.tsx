import { Group, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { useState } from 'react';
import { Link } from 'react-router';
import { track } from '../../../api/analytics.ts';
import { invalidate } from '../../../api/query.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { useLeaveBlocker } from '../../../navigation/useLeaveBlocker.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { PageHeader } from '../../../ui/PageHeader.tsx';
import { TitleAndSlug } from '../../../ui/TitleAndSlug.tsx';
import { ConfirmLeave } from './ConfirmLeave.tsx';
import { EnrolmentStep } from './EnrolmentStep.tsx';
import { Requirements } from './Requirements.tsx';
import classes from './SelfHosted.module.css';

type Enrolment = OutputOf<typeof api.selfHosted.create>;

/** Attaches a server: asks for its name, shows the enrolment file and the install command, waits until it has joined. */
export function AttachServerWizard() {
  const t = useT();
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const [joined, setJoined] = useState(false);
  const blocker = useLeaveBlocker(enrolment !== null && !joined, { withSearch: true });
  return (
    <div className={classes.wizard}>
      <PageHeader title={t('Attach a server')}>
        {enrolment
          ? t('Step 2 of 2: run one command on “{{title}}”', { title: enrolment.entity.title })
          : t('Step 1 of 2: give it a name')}
      </PageHeader>
      {enrolment ? (
        <>
          <EnrolmentStep enrolment={enrolment} onJoined={() => setJoined(true)} />
          <ConfirmLeave
            opened={blocker.state === 'blocked'}
            onStay={() => blocker.reset?.()}
            onLeave={() => blocker.proceed?.()}
          />
        </>
      ) : (
        <Names onDone={setEnrolment} />
      )}
    </div>
  );
}

function Names({ onDone }: { onDone(enrolment: Enrolment): void }) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.selfHosted.create, {
    initialValues: { title: '', slug: '' },
    onSubmit: () => track('create_self_hosted_next_step_clicked'),
    onDone: (enrolment) => {
      void invalidate('self-hosted-instance/');
      onDone(enrolment);
    },
  });
  return (
    <Stack gap={24}>
      <Form onSubmit={submit}>
        <Stack gap={16}>
          <TitleAndSlug title={field('title')} slug={field('slug')} placeholder={t('Such as “lab 3”')} />
          <Group gap={8}>
            <Button type="submit" loading={loading} data-testid="wizard-next">
              {t('Next step')}
            </Button>
            <Button color="gray" component={Link} to={paths.selfInstances()}>
              {t('Cancel')}
            </Button>
          </Group>
        </Stack>
      </Form>
      <Requirements />
    </Stack>
  );
}
