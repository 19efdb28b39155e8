import { api } from '@stagi/contract/api.ts';
import type { Feedback } from '@stagi/contract/feedback.ts';
import { FEEDBACK_TOPICS } from '@stagi/contract/feedbackTopics.ts';
import { IconMessage2, IconPhoto } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { usePanel } from '../../layouts/usePanel.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { FilterMenu } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime } from '../../ui/Time.tsx';
import classes from './Admin.module.css';
import { FeedbackPanel } from './FeedbackPanel.tsx';
import { feedbackInput, TOPIC, topicsOf } from './listInputs.ts';

/** What people told the operators. */
export function FeedbackPage() {
  const t = useT();
  const list = useListState({ filters: [TOPIC] });
  const topics = topicsOf(list);
  const { table } = useList(api.feedback.list, feedbackInput(list), list);
  const panel = usePanel('feedback');
  const some = list.narrowed || (table.rows?.length ?? 0) > 0;

  return (
    <>
      <PageHeader title={t('Feedback')}>
        {t('What people told us by the button at the corner. Screenshots are kept for 180 days.')}
      </PageHeader>
      {some && (
        <ListBar>
          <SearchBox
            width={300}
            value={list.search}
            onChange={list.setSearch}
            placeholder={t('Search by words, name or email')}
          />
          <FilterMenu
            label={t('Topic')}
            options={FEEDBACK_TOPICS.map((topic) => ({ value: topic, label: t(topic) }))}
            value={topics}
            onChange={(wanted) => list.setValues(TOPIC, wanted)}
          />
        </ListBar>
      )}
      <DataTable
        {...table}
        label={t('Feedback')}
        name="admin-feedback"
        rowTestId="feedback-row"
        columns={columns()}
        rowKey={({ id }) => id}
        rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No feedback matches')} onClear={list.clear}>
              {t('Try other words or topics.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconMessage2 size={20} />} title={t('No feedback yet')}>
              {t('What people send by the feedback button is listed here, with their screenshots.')}
            </EmptyState>
          )
        }
      />
      <FeedbackPanel id={panel.id} onClose={panel.close} />
    </>
  );

  function columns(): Column<Feedback>[] {
    return [
      {
        key: 'subject',
        title: t('Subject'),
        card: 'head',
        cell: ({ subject }) => <span className={classes.name}>{subject}</span>,
      },
      { key: 'topic', title: t('Topic'), sortBy: 'topic', cell: ({ topic }) => <Tag>{t(topic)}</Tag> },
      {
        key: 'from',
        title: t('Sent by'),
        cell: ({ from }) => (
          <span className={classes.row}>
            <span>{personName(t, from.name)}</span>
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
            <span className={classes.person}>
              <IconPhoto size={16} aria-hidden="true" />
              <span className="mono">{images.length}</span>
            </span>
          ),
      },
      { key: 'at', title: t('When'), sortBy: 'at', align: 'right', cell: ({ at }) => <DateTime at={at} /> },
    ];
  }
}
