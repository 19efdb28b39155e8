import { Anchor } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { type Fact, FactList } from '../../../ui/FactList.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { Money } from '../../../ui/Money.tsx';
import { Note } from '../../../ui/Note.tsx';
import { queueAhead } from './queueAhead.ts';
import classes from './TaskForm.module.css';
import { serverOf, type TaskOffer, type TaskServer } from './taskOffer.ts';
import type { Values } from './taskValues.ts';

/** Events of tasks reload the queue. While none arrive, it is read anew after this time. */
const REFETCH_MS = 10_000;
const NAMED = 4;

interface Props {
  offer: TaskOffer;
  values: Values;
  isScheduled: boolean;
}

/** What a task will cost, how many may still run today, and what it waits for: said before it is started. */
export function BeforeStart({ offer, values, isScheduled }: Props) {
  const t = useT();
  const server = serverOf(offer, values);
  const { used, limit } = offer.runsToday;
  const left = limit === null ? null : Math.max(0, limit - used);
  const facts: Fact[] = [
    { label: t('Price'), value: server ? <PriceOf server={server} /> : t('Choose a server') },
    ...(server && !isScheduled
      ? [{ label: t('Start', { context: 'beginning' }), value: <StartOf server={server} values={values} /> }]
      : []),
    {
      label: t('Runs left today'),
      value:
        left === null
          ? t('Unlimited')
          : t('{{left}} of {{limit}} (day of UTC)', {
              left: formatNumber(left, 0),
              limit: formatNumber(limit ?? 0, 0),
            }),
    },
  ];
  return (
    <>
      <FactList title={isScheduled ? t('Each run') : t('Before it starts')} facts={facts} />
      {left === 0 && (
        <Note tone="warn" title={t('No runs are left today')}>
          {t('Your plan allows {{count}} task runs a day. The next day begins at 00:00 UTC.', { count: limit ?? 0 })}
        </Note>
      )}
    </>
  );
}

function PriceOf({ server: { kind, pricePerHour } }: { server: TaskServer }) {
  const t = useT();
  if (kind === 'self-hosted') return t('Own server: no charge');
  return (
    <span>
      <Money price={pricePerHour} per="hour" />
      <span className={classes.aside}>{t('The price of its server, which is paid with or without tasks')}</span>
    </span>
  );
}

/** Whether it starts at once, or what it waits for. */
function StartOf({ server, values }: { server: TaskServer; values: Values }) {
  const t = useT();
  const { data } = useQuery({
    ...q(api.tasks.list, waitingOn(server.id), { quiet: true }),
    enabled: server.waiting > 0,
    refetchInterval: REFETCH_MS,
  });
  if (server.refusal !== null) return t(server.refusal);
  if (server.status !== 'online') return t('When the server is online');
  if (server.waiting > 0 && !data) return t('{{count}} tasks waiting', { count: server.waiting });
  const ahead = server.waiting > 0 ? queueAhead(data?.entities ?? [], values.priority) : [];
  const fits = Number(values.cpus) <= server.freeCpus && Number(values.gpuCount) <= server.freeGpus;
  if (ahead.length === 0) return fits ? t('At once: there is room') : t('As soon as there is room');
  const more = ahead.length - NAMED;
  return (
    <span>
      {t('{{count}} tasks wait before it', { count: ahead.length })}
      <ul className={classes.ahead} data-testid="tasks-ahead">
        {ahead.slice(0, NAMED).map(({ id, ordinal, title, project }) => (
          <li key={id} className={classes.aheadTask}>
            <Anchor component={Link} to={paths.task(id)} fz="inherit">
              #{ordinal}
            </Anchor>
            <CutText>{title}</CutText>
            {String(project.id) !== values.projectRef && <span className="muted">{project.title}</span>}
          </li>
        ))}
        {more > 0 && <li className="muted">{t('and {{count}} more', { count: more })}</li>}
      </ul>
    </span>
  );
}

const waitingOn = (instanceId: number) => ({
  instanceRef: { id: instanceId },
  entityFilterRequest: {
    statuses: ['new', 'scheduled', 'in queue'],
    limit: 100,
    orderByField: 'createdAt',
    orderByDirection: 'asc' as const,
  },
});
