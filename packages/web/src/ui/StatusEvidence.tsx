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

/** What a status rests on: in transition since when and until when, else when it was last seen to be so. */
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
