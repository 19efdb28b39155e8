import { wallTimeAt } from '../../../ui/dateRange/zonedTime.ts';
import { exactTime, formatDate } from '../../../ui/format.ts';
import { Tooltip } from '../../../ui/Tooltip.tsx';

/** A moment as the clocks of a zone show it; on hover as the reader's own do. */
export function ZonedTime({ at, timeZone }: { at: Date; timeZone: string }) {
  const { year, month, day, hour, minute } = wallTimeAt(at, timeZone);
  return (
    <Tooltip label={exactTime(at)}>
      <time dateTime={at.toISOString()} className="mono">
        {formatDate(new Date(year, month - 1, day, hour, minute))}
      </time>
    </Tooltip>
  );
}
