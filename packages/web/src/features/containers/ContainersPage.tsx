import { useT } from '../../i18n/i18n.ts';
import { PageHeader } from '../../ui/PageHeader.tsx';

export function ContainersPage() {
  const t = useT();
  return <PageHeader title={t('Containers')} />;
}
