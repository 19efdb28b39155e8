import { IconFolderUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { NoMatches } from '../ui/table/NoMatches.tsx';
import { parentOf } from './objectNames.ts';
import type { useObjectAddress } from './useFolder.ts';

interface Props {
  address: ReturnType<typeof useObjectAddress>;
  /** How a folder is filled. */
  hint?: string;
  /** What the top shows in its place. */
  children: ReactNode;
}

/** Nothing is listed: the search finds nothing, or the folder is empty. */
export function EmptyFolder({ address: { folder, search, setSearch, toFolder }, hint, children }: Props) {
  const t = useT();
  const navigate = useNavigate();
  if (search !== '')
    return (
      <NoMatches title={t('No name begins with this')} onClear={() => setSearch('')}>
        {t('Upper and lower case differ.')}
      </NoMatches>
    );
  if (folder === '') return children;
  return (
    <EmptyState
      icon={<IconFolderUp size={20} />}
      title={t('This folder is empty')}
      action={
        <Button color="gray" onClick={() => void navigate(toFolder(parentOf(folder)))}>
          {t('To the folder above')}
        </Button>
      }
    >
      {hint}
    </EmptyState>
  );
}
