import { ROUTES } from '@stagi/contract/routes.ts';
import { useParams } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { DocsFrame } from './DocsFrame.tsx';
import { EntryList } from './EntryList.tsx';
import { useWrittenList, useWrittenPage } from './useWritten.ts';

/** The tutorials, or one of them. */
export function TutorialsPage() {
  return useParams()['*'] ? <Tutorial /> : <Tutorials />;
}

function Tutorials() {
  const t = useT();
  const list = useWrittenList('tutorials');
  return (
    <DocsFrame section="tutorials" above={[]} here={t('Tutorials')}>
      <PageHeader title={t('Tutorials')}>
        {t('Whole tasks from the first command to the result, to be pasted step by step.')}
      </PageHeader>
      <EntryList of={list} />
    </DocsFrame>
  );
}

function Tutorial() {
  const t = useT();
  const written = useWrittenPage();
  return (
    <DocsFrame
      section="tutorials"
      above={[{ to: ROUTES.tutorials.path, title: t('Tutorials') }]}
      here={written.page?.title ?? ''}
      written={written}
    />
  );
}
