import type { ContactRequest } from '@stagi/contract/contact.ts';
import { useT } from '../../i18n/i18n.ts';
import { CutText } from '../../ui/CutText.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Admin.module.css';
import { ContactTags } from './ContactTags.tsx';

/** Of a message in the list; the panel shows the whole. */
const SHOWN = 200;

export function useContactColumns(): Column<ContactRequest>[] {
  const t = useT();
  return [
    {
      key: 'name',
      title: t('Name'),
      sortBy: 'name',
      card: 'head',
      cell: ({ name, email }) => (
        <span className={classes.row}>
          <CutText className={classes.name}>{name}</CutText>
          <CutText className={classes.small}>{email}</CutText>
        </span>
      ),
    },
    {
      key: 'handled',
      title: t('Status'),
      sortBy: 'handled',
      cell: (request) => <ContactTags request={request} />,
    },
    {
      key: 'topic',
      title: t('Topic'),
      sortBy: 'topic',
      cell: ({ topic, about }) => (
        <span className={classes.row}>
          <span>{t(topic)}</span>
          {about && <CutText className={classes.small}>{about.model.name}</CutText>}
        </span>
      ),
    },
    { key: 'message', title: t('Message'), cell: ({ message }) => <CutText>{message.slice(0, SHOWN)}</CutText> },
    timeColumn('at', t('When')),
  ];
}
