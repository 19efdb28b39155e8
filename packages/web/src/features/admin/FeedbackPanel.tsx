import { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { RowPanel } from '../../lists/RowPanel.tsx';
import { paths } from '../../paths.ts';
import { FactList } from '../../ui/FactList.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime } from '../../ui/Time.tsx';
import classes from './Feedback.module.css';
import { FeedbackImage } from './FeedbackImage.tsx';

/** One message with its screenshots. */
export function FeedbackPanel({ id, onClose }: { id: number | null; onClose(): void }) {
  const t = useT();
  return (
    <RowPanel view={api.feedback.view} id={id} onClose={onClose} title={t('Feedback')} testId="feedback-panel" rows={6}>
      {({ entity }) => <Told entity={entity} />}
    </RowPanel>
  );
}

function Told({ entity }: Pick<OutputOf<typeof api.feedback.view>, 'entity'>) {
  const t = useT();
  return (
    <>
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
            label: t('Reply to'),
            value: entity.contactEmail ?? entity.from.email,
            copy: entity.contactEmail ?? entity.from.email,
          },
          { label: t('When'), value: <DateTime at={entity.at} /> },
          { label: t('Browser'), value: entity.userAgent },
        ]}
      />
    </>
  );
}
