import { ROUTES } from '@stagi/contract/routes.ts';
import { useT } from '../../i18n/i18n.ts';
import { DocsFrame } from './DocsFrame.tsx';
import { useWrittenList, useWrittenPage } from './useWritten.ts';

/** A page of the documentation. */
export function DocsPage() {
  const t = useT();
  const written = useWrittenPage();
  const { entries = [] } = useWrittenList('docs');
  const { page } = written;
  const start = { to: ROUTES.docs.path as string, title: t('Docs') };
  const folder = entries.find(({ path, group }) => group === page?.group && path === `${start.to}/${group}`);
  const above = page === undefined || page.path === start.to ? [] : [start];
  if (folder && folder.path !== page?.path) above.push({ to: folder.path, title: folder.title });
  return <DocsFrame section="docs" above={above} here={page?.title ?? ''} written={written} />;
}
