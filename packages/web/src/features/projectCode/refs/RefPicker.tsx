import { IconChevronDown, IconGitBranch, IconGitCommit, IconTag } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { CutText } from '../../../ui/CutText.tsx';
import { Popover } from '../../../ui/Popover.tsx';
import { shortHash } from '../CommitHash.tsx';
import { isHash } from '../codeAddress.ts';
import { RefList } from './RefList.tsx';
import classes from './Refs.module.css';

interface Props {
  projectId: number;
  /** What is shown now; a hash where no branch is known. */
  branch: string;
  kind: 'branch' | 'tag' | null;
  /** The same page on another branch or tag. */
  linkTo(name: string): string;
}

/** The branch or tag on show, and the way to others. */
export function RefPicker({ projectId, branch, kind, linkTo }: Props) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  const Icon = isHash(branch) ? IconGitCommit : kind === 'tag' ? IconTag : IconGitBranch;
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      width={320}
      target={
        <Button
          color="gray"
          size="s"
          icon={<Icon size={16} />}
          end={<IconChevronDown size={14} />}
          aria-label={t('Branch or tag: {{name}}', { name: branch })}
          aria-haspopup="dialog"
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
          className={classes.button}
          data-testid="ref-picker"
        >
          <CutText className={classes.current}>{isHash(branch) ? shortHash(branch) : branch}</CutText>
        </Button>
      }
    >
      <RefList projectId={projectId} branch={branch} linkTo={linkTo} onChosen={() => setOpened(false)} />
    </Popover>
  );
}
