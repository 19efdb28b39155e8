import { api } from '@stagi/contract/api.ts';
import type { OperatedProvider } from '@stagi/contract/providers.ts';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { toast } from '../../ui/toasts.ts';

/** Starts a check of a cloud. The list shows its result. */
export function useProviderCheck() {
  const t = useT();
  return useCall(api.providers.check, {
    onDone: () => {
      void invalidate(api.providers.list.path);
      toast.success(t('Checking the cloud'));
    },
  });
}

export const isBeingChecked = ({ check }: OperatedProvider): boolean => check !== null && check.endedAt === null;
