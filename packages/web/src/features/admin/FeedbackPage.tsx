import { api } from '@stagi/contract/api.ts';
import type { Feedback } from '@stagi/contract/feedback.ts';
import { FEEDBACK_TOPICS } from '@stagi/contract/feedbackTopics.ts';
import { IconMessage2, IconPhoto } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { usePanel } from '../../lists/usePanel.ts';
import { CutText } from '../../ui/CutText.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import { FilterMenu } from '../../ui/table/FilterMenu.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Admin.module.css';
import { FeedbackPanel } from './FeedbackPanel.tsx';
import { feedbackInput, TOPIC_FILTER, topicsOf } from './listInputs.ts';

/** Messages that people sent to the operators. */
export function FeedbackPage() {
  const t = useT();
  const state = useListState({ filters: [TOPIC_FILTER] });
  const list = useList(api.feedback.list, feedbackInput(state), state);
  const panel = usePanel('feedback');

  return (
    <ListPage
      title={t('Feedback')}
      about={t('Messages sent with the feedback button. Screenshots are kept for 180 days.')}
      list={list}
      search={t('Search by text, name or email')}
      searchWidth={300}
      filters={
        <FilterMenu
          label={t('Topic')}
          options={FEEDBACK_TOPICS.map((topic) => ({ value: topic, label: t(topic) }))}
          value={topicsOf(state)}
          onChange={(wanted) => state.setValues(TOPIC_FILTER, wanted)}
        />
      }
      name="admin-feedback"
      rowTestId="feedback-row"
      columns={columns()}
      rowKey={({ id }) => id}
      rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
      noMatches={{ title: t('No feedback matches'), text: t('Try other words or topics.') }}
      empty={{
        icon: <IconMessage2 size={20} />,
        title: t('No feedback yet'),
        text: t('Messages sent with the feedback button appear here, with their screenshots.'),
      }}
    >
      <FeedbackPanel id={panel.id} onClose={panel.close} />
    </ListPage>
  );

  function columns(): Column<Feedback>[] {
    return [
      {
        key: 'subject',
        title: t('Subject'),
        card: 'head',
        cell: ({ subject }) => <CutText className={classes.name}>{subject}</CutText>,
      },
      { key: 'topic', title: t('Topic'), sortBy: 'topic', cell: ({ topic }) => <Tag>{t(topic)}</Tag> },
      {
        key: 'from',
        title: t('Sent by'),
        cell: ({ from }) => (
          <span className={classes.row}>
            <CutText>{personName(t, from.name)}</CutText>
            <span className={classes.small}>{from.email}</span>
          </span>
        ),
      },
      {
        key: 'images',
        title: t('Screenshots'),
        align: 'right',
        cell: ({ images }) =>
          images.length === 0 ? (
            <span className="muted">—</span>
          ) : (
            <span className={classes.inline}>
              <IconPhoto size={16} aria-hidden="true" />
              <span className="mono">{images.length}</span>
            </span>
          ),
      },
      timeColumn('at', t('When')),
    ];
  }
}
