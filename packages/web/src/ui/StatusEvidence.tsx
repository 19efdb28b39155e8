import { useT } from '../i18n/i18n.ts';
import { Deadline, TimeAgo } from './Time.tsx';

interface Props {
  of: {
    statusSince: string;
    statusSeenAt: string | null;
    statusDeadline: string | null;
    statusReason: string | null;
  };
}

/** The evidence for a status: the start and deadline of a transition, otherwise when it was last observed. */
export function StatusEvidence({ of: { statusSince, statusSeenAt, statusDeadline, statusReason } }: Props) {
  const t = useT();
  return (
    <>
      {statusDeadline !== null ? (
        <Deadline since={statusSince} deadline={statusDeadline} />
      ) : (
        <>
          {statusSeenAt && (
            <>
              {t('seen')} <TimeAgo at={statusSeenAt} />
              {' · '}
            </>
          )}
          {t('since')} <TimeAgo at={statusSince} />
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
