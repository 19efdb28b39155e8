import { api } from '@stagi/contract/api.ts';
import type { ContactRequest } from '@stagi/contract/contact.ts';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { RowPanel } from '../../lists/RowPanel.tsx';
import { paths } from '../../paths.ts';
import { type Action, ActionButton } from '../../ui/actions.tsx';
import { type Fact, FactList } from '../../ui/FactList.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime } from '../../ui/Time.tsx';
import classes from './Admin.module.css';
import { ContactTags } from './ContactTags.tsx';
import feedback from './Feedback.module.css';

interface Props {
  /** From the address; null: closed. */
  id: number | null;
  onClose(): void;
  actionsOf(request: ContactRequest): Action[];
}

/** One request, in the words of its sender. */
export function ContactPanel({ id, onClose, actionsOf }: Props) {
  const t = useT();
  return (
    <RowPanel
      view={api.contact.view}
      id={id}
      onClose={onClose}
      title={t('Contact request')}
      testId="contact-panel"
      rows={8}
    >
      {({ entity }) => <Body request={entity} actions={actionsOf(entity)} />}
    </RowPanel>
  );
}

function Body({ request, actions }: { request: ContactRequest; actions: Action[] }) {
  const t = useT();
  const { topic, message, note } = request;
  return (
    <>
      <div className={classes.top}>
        <ContactTags request={request} />
        <span className={classes.inline}>
          {actions.map(({ label, danger: _, testId, ...action }) => (
            <ActionButton key={label} {...action} testId={`panel-${testId}`}>
              {label}
            </ActionButton>
          ))}
        </span>
      </div>
      <div>
        <Tag>{t(topic)}</Tag>
        <p className={feedback.message}>{message}</p>
      </div>
      {note !== '' && (
        <section>
          <h3 className={classes.title}>{t('Note')}</h3>
          <p className={feedback.message}>{note}</p>
        </section>
      )}
      <FactList facts={facts()} />
    </>
  );

  function facts(): Fact[] {
    const { name, email, company, about, from, mailed, at, handled } = request;
    return [
      { label: t('Name'), value: name, copy: name },
      { label: t('Email'), value: <a href={`mailto:${mailtoOf(email)}`}>{email}</a>, copy: email },
      { label: t('Company'), value: company },
      {
        label: t('Signed in as'),
        value: from && <Link to={paths.adminUser(from.userId)}>{`${personName(t, from.name)} (${from.email})`}</Link>,
      },
      ...(about
        ? [
            { label: t('Model'), value: about.model.name, copy: about.model.id },
            { label: 'GPU', value: about.gpu },
            { label: t('Quality'), value: about.quality },
          ]
        : []),
      { label: t('When'), value: <DateTime at={at} /> },
      { label: t('Mailed to the operators'), value: mailed ? t('Yes') : t('No') },
      ...(handled
        ? [
            { label: t('Handled by'), value: personName(t, handled.by.name) },
            { label: t('Handled at'), value: <DateTime at={handled.at} /> },
          ]
        : []),
    ];
  }
}

/** Signs of the local part that would begin another field of the mail are encoded. */
const mailtoOf = (email: string): string => encodeURIComponent(email).replace('%40', '@');
