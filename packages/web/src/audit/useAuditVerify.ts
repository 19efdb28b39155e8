import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { useCall } from '../api/useCall.ts';
import { useT } from '../i18n/i18n.ts';
import { toast } from '../ui/toasts.ts';

type VerifyCall = typeof api.audit.verify | typeof api.audit.verifyForOperators;

/** Holds every entry of a log against its hash, part by part, and says how it is. */
export function useAuditVerify<C extends VerifyCall>(of: C, whose: Omit<InputOf<C>, 'after'>, onEnd?: () => void) {
  const t = useT();
  const { run: verifyPart, loading } = useCall<VerifyCall>(of);

  async function run(): Promise<void> {
    let count = 0;
    for (let after: number | undefined; ; ) {
      const part = await verifyPart({ ...whose, after });
      if (!part) return;
      count += part.checked;
      if (part.broken !== null) return toast.error(t('The chain is broken at entry {{entry}}', { entry: part.broken }));
      if (part.next === null) return toast.success(t('The chain is intact: {{count}} entries', { count }));
      after = part.next;
    }
  }

  return { running: loading, run: () => void run().finally(onEnd) };
}
