import classes from './CodeBlock.module.css';
import { CopyButton } from './CopyButton.tsx';

interface Props {
  code: string;
  /** A name above the block, such as a file's. */
  title?: string;
  /** Breaks long lines instead of scrolling them. */
  wrap?: boolean;
  /** A sign before each line that is not copied: `$` for what one types. */
  prompt?: string;
}

/** Text to be copied as it stands: commands, keys, addresses. */
export function CodeBlock({ code, title, wrap = false, prompt }: Props) {
  return (
    <figure className={classes.block}>
      {title && <figcaption className={classes.title}>{title}</figcaption>}
      <pre className={classes.code} data-wrap={wrap || undefined} data-prompt={prompt} tabIndex={wrap ? undefined : 0}>
        <code>{code}</code>
      </pre>
      <div className={classes.copy}>
        <CopyButton value={code} />
      </div>
    </figure>
  );
}
