import type { ElementContent } from 'hast';
import type { Components } from 'hast-util-to-jsx-runtime';
import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { CodeFence } from '../blob/CodeFence.tsx';
import { codePaths } from '../codeAddress.ts';
import { languageNamed } from '../highlight/languageOf.ts';
import { rawLink } from '../rawLink.ts';
import classes from './Markdown.module.css';

interface Place {
  projectId: number;
  branch: string;
  sha: string | null;
  /** Where files of this commit are read on the content host. */
  rawBase: string | null;
}

/** How the elements that `markdownTree` marked are shown. */
export function markdownElements({ projectId, branch, sha, rawBase }: Place): Partial<Components> {
  return {
    a: ({ node, children, href, id, title }) => {
      const path = node?.properties.dataPath;
      const url = node?.properties.dataExternal;
      if (typeof path === 'string') {
        const hash = String(node?.properties.dataHash ?? '');
        return (
          <Link to={codePaths.tree(projectId, { branch, sha, path }) + hash} id={id} title={title}>
            {children}
          </Link>
        );
      }
      if (typeof url === 'string')
        return (
          <a href={url} id={id} title={title} target="_blank" rel="noopener noreferrer nofollow ugc">
            {children}
          </a>
        );
      return (
        <a href={href} id={id} title={title}>
          {children}
        </a>
      );
    },
    img: ({ node, alt = '', title, width, height }) => {
      const path = node?.properties.dataPath;
      const url = node?.properties.dataExternal;
      if (typeof path === 'string' && rawBase !== null)
        return (
          <img
            src={rawLink({ link: rawBase, expiresAt: '' }, path)}
            alt={alt}
            {...{ title, width, height }}
            loading="lazy"
            className={classes.image}
          />
        );
      const isLink = typeof url === 'string' && node?.properties.dataInLink === undefined;
      return <OutsideImage alt={alt} url={isLink ? url : null} />;
    },
    pre: ({ node, children }) => {
      const [code] = node?.children ?? [];
      if (code?.type !== 'element' || code.tagName !== 'code') return <pre className={classes.pre}>{children}</pre>;
      const names = Array.isArray(code.properties.className) ? code.properties.className.map(String) : [];
      const word = names.find((name: string) => name.startsWith('language-'))?.slice('language-'.length) ?? '';
      return <CodeFence text={textOf(code.children).replace(/\n$/, '')} language={languageNamed(word)} />;
    },
    table: ({ children }) => (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
      <div className={classes.table} tabIndex={0}>
        <table>{children}</table>
      </div>
    ),
    input: ({ checked }) => <TaskBox isDone={checked === true} />,
  };
}

/** It cannot be ticked here. */
function TaskBox({ isDone }: { isDone: boolean }) {
  const t = useT();
  return <input type="checkbox" checked={isDone} disabled readOnly aria-label={isDone ? t('Done') : t('Not done')} />;
}

/** Images of other sites would tell them who reads this page. */
function OutsideImage({ alt, url }: { alt: string; url: string | null }) {
  const t = useT();
  const name = alt === '' ? t('Image') : alt;
  const title = t('An image of another site: it is not loaded here');
  if (url === null)
    return (
      <span className={classes.outside} title={title}>
        {name}
      </span>
    );
  return (
    <a href={url} className={classes.outside} title={title} target="_blank" rel="noopener noreferrer nofollow ugc">
      {name}
    </a>
  );
}

function textOf(nodes: readonly ElementContent[]): string {
  return nodes
    .map((node) => (node.type === 'text' ? node.value : node.type === 'element' ? textOf(node.children) : ''))
    .join('');
}
