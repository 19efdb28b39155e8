import { api } from '@stagi/contract/api.ts';
import type { ContactRequest } from '@stagi/contract/contact.ts';
import { CONTACT_TOPICS } from '@stagi/contract/contactTopics.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconArrowBackUp, IconCheck, IconMail, IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { call } from '../../api/client.ts';
import { useSite } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { usePanel } from '../../lists/usePanel.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { FilterMenu } from '../../ui/table/FilterMenu.tsx';
import { ContactNote } from './ContactNote.tsx';
import { ContactPanel } from './ContactPanel.tsx';
import { contactInput, contactTopicsOf, HANDLED_FILTER, TOPIC_FILTER } from './listInputs.ts';
import { useContactColumns } from './useContactColumns.tsx';

/** What visitors wrote with the contact form. */
export function ContactPage() {
  const t = useT();
  const { supportEmail } = useSite();
  const state = useListState({ filters: [TOPIC_FILTER, HANDLED_FILTER] });
  const list = useList(api.contact.list, contactInput(state), state);
  const columns = useContactColumns();
  const panel = usePanel('contact');
  const [noted, setNoted] = useState<ContactRequest | null>(null);
  const actions = useContactActions(setNoted);
  const kept = t('Requests from the contact form. They are deleted after 180 days.');

  return (
    <ListPage
      title={t(ROUTES.adminContact.title)}
      about={`${kept} ${
        supportEmail
          ? t('They are also mailed to {{email}}.', { email: supportEmail })
          : t('They are not mailed, as SUPPORT_EMAIL is not set.')
      }`}
      list={list}
      search={t('Search by text, name or email')}
      searchWidth={300}
      filters={
        <>
          <FilterMenu
            label={t('Status')}
            options={[
              { value: 'no', label: t('Not handled') },
              { value: 'yes', label: t('Handled') },
            ]}
            value={[state.filter(HANDLED_FILTER)]}
            onChange={(values) => state.setFilter(HANDLED_FILTER, values.at(-1) ?? '')}
          />
          <FilterMenu
            label={t('Topic')}
            options={CONTACT_TOPICS.map((topic) => ({ value: topic, label: t(topic) }))}
            value={contactTopicsOf(state)}
            onChange={(wanted) => state.setValues(TOPIC_FILTER, wanted)}
          />
        </>
      }
      name="admin-contact"
      rowTestId="contact-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowName={({ name }) => name}
      rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
      actions={actions}
      noMatches={{ title: t('No request matches'), text: t('Try other words or topics.') }}
      empty={{
        icon: <IconMail size={20} />,
        title: t('No requests yet'),
        text: t('What visitors write with the contact form appears here.'),
      }}
    >
      <ContactPanel id={panel.id} onClose={panel.close} actionsOf={actions.of} />
      <ContactNote request={noted} onClose={() => setNoted(null)} />
    </ListPage>
  );
}

function useContactActions(note: (request: ContactRequest) => void) {
  const t = useT();
  return useRowActions<ContactRequest>(
    [
      {
        name: 'handle',
        label: t('Mark as handled'),
        icon: IconCheck,
        shown: ({ handled }) => handled === null,
        open: note,
      },
      {
        name: 'note',
        label: t('Edit the note'),
        icon: IconPencil,
        shown: ({ handled }) => handled !== null,
        open: note,
      },
      {
        name: 'reopen',
        label: t('Reopen'),
        icon: IconArrowBackUp,
        shown: ({ handled }) => handled !== null,
        perform: ({ id }, options) => call(api.contact.handle, { id, handled: false }, options),
        success: ({ name }) => t('The request of {{name}} is open again', { name }),
      },
    ],
    ['admin/contact/'],
  );
}
