import type { Call, InputOf, OutputOf } from '@stagi/contract/call.ts';
import { useQuery } from '@tanstack/react-query';
import type { ComponentProps, ReactNode } from 'react';
import { NavLink, useParams } from 'react-router';
import type { z } from 'zod';
import { errorText } from '../api/messages.ts';
import { q } from '../api/query.ts';
import { LazyNotFound } from '../errorPages/LazyNotFound.tsx';
import { useT } from '../i18n/i18n.ts';
import { type Crumb, usePageTitle } from '../navigation/pageTitle.tsx';
import { useRouteId } from '../navigation/useRouteId.ts';
import { type Action, ActionButton, ActionMenu } from '../ui/actions.tsx';
import { ErrorState } from '../ui/ErrorState.tsx';
import { type LinkTab, LinkTabs } from '../ui/LinkTabs.tsx';
import { PageHeader } from '../ui/PageHeader.tsx';
import { DetailSkeleton } from '../ui/Skeletons.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { StatusEvidence } from '../ui/StatusEvidence.tsx';

type ViewCall = Call<z.ZodType, z.ZodType<{ entity: { title: string } }>>;

interface PageProps<C extends ViewCall> {
  view: C;
  /** How often it is read again besides what events do. */
  everyMs(entity: OutputOf<C>['entity'] | undefined): number;
  /** Of the browser's tab and the last breadcrumb, where it is not the entity's. */
  pageTitle?(entity: OutputOf<C>['entity']): string;
  /** The thing that it belongs to, as a breadcrumb. */
  above?(entity: OutputOf<C>['entity']): Crumb | undefined;
  children(entity: OutputOf<C>['entity']): ReactNode;
}

/** A page of one thing, which the address names by its id. */
export function DetailPage<C extends ViewCall>({ view, everyMs, pageTitle, above, children }: PageProps<C>) {
  const id = useRouteId();
  const { data, error, isFetching, refetch } = useQuery({
    ...q(view, { id } as InputOf<C>),
    refetchInterval: ({ state }) => everyMs(state.data?.entity),
  });
  usePageTitle(data && (pageTitle?.(data.entity) ?? data.entity.title), data && above?.(data.entity));
  if (data) return children(data.entity);
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <DetailSkeleton />;
}

interface DetailTab extends LinkTab {
  /** The `:tab` of the address; `overview` is the one without. */
  name: string;
  body: ReactNode;
}

interface DetailProps {
  entity: { title: string; slug: string } & ComponentProps<typeof StatusEvidence>['of'];
  statusTestId: string;
  besideTitle?: ReactNode;
  /** The next step first. */
  actions: readonly Action[];
  /** Around what the status rests on. */
  before?: ReactNode;
  after?: ReactNode;
  /** What the tabs are of, for screen readers. */
  label: string;
  tabs: readonly DetailTab[];
}

/** The header of one thing, with its status and actions, and its tabs. */
export function DetailTabs({ entity, statusTestId, besideTitle, actions, before, after, label, tabs }: DetailProps) {
  const { tab = 'overview' } = useParams();
  const shown = tabs.find(({ name }) => name === tab);
  if (!shown) return <LazyNotFound />;
  return (
    <>
      <PageHeader
        title={entity.title}
        slug={entity.slug}
        status={
          <>
            {besideTitle}
            <span data-testid={statusTestId}>
              <StatusBadge status={entity.status} prominent />
            </span>
          </>
        }
        actions={<HeaderActions actions={actions} />}
      >
        {before}
        <StatusEvidence of={entity} />
        {after}
      </PageHeader>
      <LinkTabs label={label} link={NavLink} tabs={tabs} />
      {shown.body}
    </>
  );
}

/** The usual ones as buttons, the others behind three dots. */
function HeaderActions({ actions }: Pick<DetailProps, 'actions'>) {
  const t = useT();
  const seldom = actions.filter((action) => action.seldom);
  return (
    <>
      {actions
        .filter((action) => !action.seldom)
        .map((action) => (
          <ActionButton
            key={action.label}
            icon={action.icon}
            verdict={action.verdict}
            onClick={action.onClick}
            testId={action.testId}
            tone={toneOf(action)}
          >
            {action.label}
          </ActionButton>
        ))}
      {seldom.length > 0 && <ActionMenu actions={seldom} label={t('More actions')} />}
    </>
  );
}

function toneOf({ danger, primary, verdict }: Action): 'primary' | 'danger' | 'default' {
  if (danger) return 'danger';
  return primary && verdict?.allowed !== false ? 'primary' : 'default';
}
