import { useT } from '../../i18n/i18n.ts';
import { PageHeader } from '../../ui/PageHeader.tsx';

export function ContainerPage() {
  const t = useT();
  return <PageHeader title={t('Container')} />;
}
