import { api } from '@stagi/contract/api.ts';
import { useEffect } from 'react';
import { call } from '../api/client.ts';
import { invalidate } from '../api/query.ts';
import { useUser } from '../api/user.ts';

let recorded = false;

/** Records, for the checklist of first steps, that the user has seen a log with lines. */
export function useLogSeen(hasLines: boolean): void {
  const { isGettingStarted } = useUser().profile;
  useEffect(() => {
    if (!hasLines || !isGettingStarted || recorded) return;
    recorded = true;
    call(api.gettingStarted.edit, { logSeen: true }, { quiet: true }).then(
      () => invalidate('getting-started/'),
      (cause: unknown) => {
        recorded = false;
        console.warn('That a log was seen is not recorded; the next log tries again', cause);
      },
    );
  }, [hasLines, isGettingStarted]);
}
