import { api } from '@stagi/contract/api.ts';
import type { ProjectActivity as Activity, PushedRef } from '@stagi/contract/projects.ts';
import { IconHistory } from '@tabler/icons-react';
import { PROJECT_ACTIVITIES } from '../../audit/activityWords.ts';
import { useProject } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { ListTable } from '../../lists/ListTable.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { CutText } from '../../ui/CutText.tsx';
import { DateTime } from '../../ui/Time.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Projects.module.css';

const SHOWN_REFS = 3;

/** What happened in a project, newest first: pushes, imports, servers. */
export function ProjectActivity() {
  const t = useT();
  const { id } = useProject();
  const state = useListState({ sort: { field: 'at', direction: 'desc' } });
  const list = useList(api.projects.activity, { projectRef: { id }, entityFilterRequest: state.request }, state);
  return (
    <ListTable
      list={list}
      search={t('Search activities')}
      label={t('Activity')}
      rowTestId="project-activity-row"
      columns={columns()}
      rowKey={(activity) => activity.id}
      noMatches={{ title: t('No matching entries'), text: t('Try other words.') }}
      empty={{
        icon: <IconHistory size={20} />,
        title: t('No activity yet'),
        text: t('Pushes, imports and attached servers will be listed here.'),
      }}
    />
  );

  function columns(): Column<Activity>[] {
    return [
      {
        key: 'what',
        title: t('What'),
        cell: ({ kind }) => <span className={classes.nowrap}>{t(PROJECT_ACTIVITIES[kind])}</span>,
      },
      { key: 'detail', title: t('Details'), cell: (activity) => <Detail of={activity} /> },
      {
        key: 'who',
        title: t('Who'),
        cell: ({ by }) =>
          by === null ? <span className="muted">{t('The platform')}</span> : <CutText>{personName(t, by)}</CutText>,
      },
      {
        key: 'when',
        title: t('When'),
        sortBy: 'at',
        align: 'right',
        width: 190,
        cell: ({ at }) => <DateTime at={at} format="HH:mm DD.MM.YYYY" />,
      },
    ];
  }
}

function Detail({ of: { refs, refCount, via, instance, url, error } }: { of: Activity }) {
  const t = useT();
  if (instance) return <CutText>{instance.title}</CutText>;
  if (url)
    return (
      <span className={classes.two}>
        <CutText className="mono">{url}</CutText>
        {error && <span className={classes.second}>{t(error)}</span>}
      </span>
    );
  if (refCount === 0) return null;
  const more = refCount - Math.min(refs.length, SHOWN_REFS);
  return (
    <span className={classes.two}>
      {refs.slice(0, SHOWN_REFS).map((ref) => (
        <ChangedRef key={ref.name} of={ref} />
      ))}
      <span className={classes.second}>
        {[more > 0 && t('{{count}} more', { count: more }), via && t('over {{protocol}}', { protocol: PROTOCOL[via] })]
          .filter(Boolean)
          .join(' · ')}
      </span>
    </span>
  );
}

const PROTOCOL = { https: 'HTTPS', ssh: 'SSH' } as const;

function ChangedRef({ of: { name, before, after, isForced } }: { of: PushedRef }) {
  const t = useT();
  return (
    <span className={classes.ref}>
      <CutText className="mono">{name.replace(/^refs\/(heads|tags)\//, '')}</CutText>
      <span className={classes.second}>{change()}</span>
    </span>
  );

  function change() {
    if (after === null) return t('deleted');
    const sha = <span className="mono">{after.slice(0, 7)}</span>;
    if (before === null)
      return (
        <>
          {name.startsWith('refs/tags/') ? t('new tag') : t('new branch')} {sha}
        </>
      );
    return (
      <>
        <span className="mono">{before.slice(0, 7)}</span> → {sha} {isForced && t('forced')}
      </>
    );
  }
}
