import { CopyButton } from '@mantine/core';
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { Button } from './Button.tsx';
import { downloadText } from './download.ts';
import classes from './SecretFile.module.css';

interface Props {
  /** The name it is saved under. */
  name: string;
  content: string;
  /** The person has it now: downloaded or copied. */
  onTaken(how: 'downloaded' | 'copied'): unknown;
  testId?: string;
}

/** A file that is shown once: to be downloaded or copied now. */
export function SecretFile({ name, content, onTaken, testId }: Props) {
  const t = useT();
  const [shown, setShown] = useState(false);
  const [downloaded, setDownloaded] = useState(false);
  return (
    <div className={classes.file}>
      <div className={classes.line}>
        <span className={classes.name}>{name}</span>
        <div className={classes.buttons}>
          <Button
            size="xs"
            icon={downloaded ? <IconCheck size={14} /> : <IconDownload size={14} />}
            data-testid={testId}
            onClick={() => {
              // As plain text a browser would save a name without an extension with `.txt`.
              downloadText(name, [content], 'application/octet-stream');
              setDownloaded(true);
              onTaken('downloaded');
            }}
          >
            {downloaded ? t('Downloaded') : t('Download')}
          </Button>
          <CopyButton value={content} timeout={1500}>
            {({ copied, copy }) => (
              <Button
                color="gray"
                size="xs"
                icon={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
                onClick={() => {
                  copy();
                  onTaken('copied');
                }}
              >
                {copied ? t('Copied') : t('Copy')}
              </Button>
            )}
          </CopyButton>
          <Button color="gray" look="quiet" size="xs" aria-expanded={shown} onClick={() => setShown(!shown)}>
            {shown ? t('Hide') : t('Show')}
          </Button>
        </div>
      </div>
      {shown && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <pre className={classes.content} tabIndex={0}>
          {content}
        </pre>
      )}
    </div>
  );
}
