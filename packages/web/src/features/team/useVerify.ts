import { api } from '@stagi/contract/api.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { toast } from '../../ui/toasts.ts';

/** Holds every entry against its hash, part by part, and says how it is. */
export function useVerify() {
  const t = useT();
  const { run: verifyPart, loading } = useCall(api.audit.verify);

  async function run(): Promise<void> {
    let count = 0;
    for (let after: number | undefined; ; ) {
      const part = await verifyPart({ after });
      if (!part) return;
      count += part.checked;
      if (part.broken !== null) return toast.error(t('The chain is broken at entry {{entry}}', { entry: part.broken }));
      if (part.next === null) return toast.success(t('The chain is whole: {{count}} entries', { count }));
      after = part.next;
    }
  }

  return { running: loading, run: () => void run() };
}
