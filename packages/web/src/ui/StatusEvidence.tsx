import { useT } from '../i18n/i18n.ts';
import { MOMENTS, STATUS } from './status.ts';
import { Deadline, Lasting, TimeAgo } from './Time.tsx';

interface Props {
  of: {
    status: string;
    statusSince: string;
    statusSeenAt: string | null;
    statusDeadline: string | null;
    statusReason: string | null;
  };
}

/** The evidence for a status: the start and deadline of a transition, otherwise since when and the last report of it. */
export function StatusEvidence({ of: { status, statusSince, statusSeenAt, statusDeadline, statusReason } }: Props) {
  const t = useT();
  const word = STATUS[status]?.word;
  return (
    <>
      {statusDeadline !== null ? (
        <Deadline since={statusSince} deadline={statusDeadline} />
      ) : (
        <>
          <Lasting what={word ? t(word) : status} since={statusSince} isMoment={MOMENTS.has(status)} />
          {statusSeenAt && (
            <>
              {' · '}
              {t('seen')} <TimeAgo at={statusSeenAt} />
            </>
          )}
        </>
      )}
      {statusReason && (
        <>
          {' · '}
          {t(statusReason)}
        </>
      )}
    </>
  );
}
