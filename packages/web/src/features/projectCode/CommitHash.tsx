import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { CopyButton } from '../../ui/CopyButton.tsx';
import classes from './ProjectCode.module.css';

/** The first characters of a hash that are shown (specification section 9). */
const SHOWN = 7;

export const shortHash = (sha: string): string => sha.slice(0, SHOWN);

/** The beginning of a commit's hash, which is copied whole. */
export function CommitHash({ sha, to }: { sha: string; to?: string }) {
  const t = useT();
  const shown = <span className="mono">{shortHash(sha)}</span>;
  return (
    <span className={classes.hash} data-testid="commit-hash">
      {to === undefined ? shown : <Link to={to}>{shown}</Link>}
      <CopyButton value={sha} label={t('Copy the whole hash')} />
    </span>
  );
}
