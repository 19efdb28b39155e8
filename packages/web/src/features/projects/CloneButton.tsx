import type { Project } from '@stagi/contract/projects.ts';
import { IconChevronDown, IconGitBranch } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { CodeBlock } from '../../ui/CodeBlock.tsx';
import { Popover } from '../../ui/Popover.tsx';
import { GitProtocols } from './GitProtocols.tsx';
import classes from './Projects.module.css';

/** The addresses of the repository, ready to be copied, and what each asks for. */
export function CloneButton({ project }: { project: Project }) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-end"
      target={
        <Button
          color="gray"
          icon={<IconGitBranch size={16} />}
          end={<IconChevronDown size={14} />}
          aria-haspopup="dialog"
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
          data-testid="project-clone"
        >
          {t('Clone')}
        </Button>
      }
    >
      <div className={classes.clone} data-testid="clone-addresses">
        <GitProtocols project={project}>{(address) => <CodeBlock wrap code={`git clone ${address}`} />}</GitProtocols>
      </div>
    </Popover>
  );
}
