import { CallError } from '@stagi/contract/errors.ts';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { codePaths } from './codeAddress.ts';

/** The answer to what is not there, and to what cannot be the name of anything. */
export const isAbsent = (error: Error | null): boolean =>
  error instanceof CallError && (error.status === 404 || error.status === 400);

/** In the frame of the project, where an address names what the project does not have. */
export function NothingHere({ projectId, path = '' }: { projectId: number; path?: string }) {
  const t = useT();
  return (
    <div data-testid="code-nothing">
      <EmptyState
        title={path === '' ? t('There is nothing at this address') : t('There is no “{{path}}” here', { path })}
        action={
          <Button component={Link} to={codePaths.tree(projectId)} color="gray">
            {t('Go to the code')}
          </Button>
        }
      >
        {t('The branch, commit, file or folder may have been renamed or removed.')}
      </EmptyState>
    </div>
  );
}
