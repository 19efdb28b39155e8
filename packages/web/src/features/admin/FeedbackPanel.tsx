import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { paths } from '../../paths.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { FactList } from '../../ui/FactList.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime } from '../../ui/Time.tsx';
import classes from './Feedback.module.css';
import { FeedbackImage } from './FeedbackImage.tsx';

/** What one person told, word for word, with their screenshots. */
export function FeedbackPanel({ id, onClose }: { id: number | null; onClose(): void }) {
  const t = useT();
  return (
    <Dialog
      opened={id !== null}
      onClose={onClose}
      routed
      placement="right"
      title={t('Feedback')}
      testId="feedback-panel"
    >
      {id !== null && <Body key={id} id={id} />}
    </Dialog>
  );
}

function Body({ id }: { id: number }) {
  const t = useT();
  const { data, error, refetch } = useQuery(q(api.feedback.view, { id }, { quiet: true }));
  if (!data) {
    return error ? (
      <ErrorState message={errorText(error)} onRetry={() => void refetch()} />
    ) : (
      <PanelSkeleton rows={6} />
    );
  }
  const { entity } = data;
  return (
    <div className={classes.panel}>
      <div>
        <Tag>{t(entity.topic)}</Tag>
        <h3 className={classes.subject}>{entity.subject}</h3>
        <p className={classes.words}>{entity.description}</p>
      </div>
      {entity.images.length > 0 && (
        <ul className={classes.images}>
          {entity.images.map((image) => (
            <li key={image.position}>
              <FeedbackImage feedbackId={entity.id} image={image} />
            </li>
          ))}
        </ul>
      )}
      <FactList
        facts={[
          {
            label: t('Sent by'),
            value: <Link to={paths.adminUser(entity.from.userId)}>{personName(t, entity.from.name)}</Link>,
          },
          {
            label: t('Answer to'),
            value: entity.contactEmail ?? entity.from.email,
            copy: entity.contactEmail ?? entity.from.email,
          },
          { label: t('When'), value: <DateTime at={entity.at} /> },
          { label: t('Browser'), value: entity.userAgent },
        ]}
      />
    </div>
  );
}
