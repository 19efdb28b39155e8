import type { Instance } from '@stagi/contract/instances.ts';
import { text } from '@stagi/contract/text.ts';
import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { Note } from '../../../ui/Note.tsx';
import { ProgressSteps } from '../../../ui/ProgressSteps.tsx';
import { Deadline } from '../../../ui/Time.tsx';
import classes from '../Instances.module.css';

type Step = Instance['progress'][number]['step'];

const WORDS: Record<Step, { label: string; detail: string }> = {
  capacity: { label: text('Capacity'), detail: text('The provider reserves a machine') },
  booting: { label: text('Booting'), detail: text('The machine starts; billing begins when it runs') },
  daemon: { label: text('Agent'), detail: text('The agent connects and adds your SSH key') },
  ready: { label: text('Ready'), detail: text('Final checks') },
};

/** The progress of a new server: capacity, booting, daemon, ready. */
export function CreationProgress({ instance }: { instance: Instance }) {
  const t = useT();
  const failed = instance.status === 'creation failed';
  return (
    <section className={classes.progress} aria-label={t('Progress')} data-testid="creation-progress">
      <h2>
        {failed ? t('The server could not be created') : t('Your server is being created')}
        {!failed && <Deadline since={instance.createdAt} deadline={null} />}
      </h2>
      <ProgressSteps
        since={instance.createdAt}
        failed={failed}
        steps={instance.progress.map(({ step, at }) => ({
          at,
          label: t(WORDS[step].label),
          detail: at === null && !failed ? t(WORDS[step].detail) : undefined,
        }))}
      />
      {failed && (
        <Note
          tone="bad"
          title={t(instance.statusReason ?? 'The provider gave no reason')}
          action={
            <Button color="gray" size="xs" component={Link} to={paths.marketplace()}>
              {t('Rent another')}
            </Button>
          }
        >
          {t('Nothing has been charged for it.')}
        </Note>
      )}
    </section>
  );
}
