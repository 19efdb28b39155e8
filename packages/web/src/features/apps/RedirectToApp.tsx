import { useEffect } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { FormCard } from '../../ui/FormCard.tsx';

/** Redirects to the app. Replaces the history entry, so that Back skips this page. */
export function RedirectToApp({ name, link }: { name: string; link: string }) {
  const t = useT();
  useEffect(() => window.location.replace(link), [link]);
  return (
    <FormCard size="m" title={t('Back to {{app}}', { app: name })}>
      <p style={{ margin: 0 }} role="status">
        {t('Redirecting to the app. If it has opened, you can close this page.')}
      </p>
    </FormCard>
  );
}
