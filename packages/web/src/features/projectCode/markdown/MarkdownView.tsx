import { Skeleton } from '@mantine/core';
import type { RawFiles } from '@stagi/contract/projectCode.ts';
import { useQuery } from '@tanstack/react-query';
import type { Root } from 'hast';
import { type Components, toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { useMemo } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import { useT } from '../../../i18n/i18n.ts';
import { Note } from '../../../ui/Note.tsx';
import { folderOf } from '../codeAddress.ts';
import classes from '../ProjectCode.module.css';
import { runCodeTask } from '../worker/codeTasks.ts';
import prose from './Markdown.module.css';
import { markdownElements } from './markdownElements.tsx';

interface Props {
  projectId: number;
  branch: string;
  sha: string | null;
  /** The file's: its links begin in its folder. */
  path: string;
  raw: RawFiles | null;
  text: string;
}

/** Longer texts are shown as they are. */
const LONGEST = 400_000;

/** A Markdown text of the repository. Nothing in it runs; images of other sites are links. */
export function MarkdownView(props: Props) {
  const { path, text } = props;
  const t = useT();
  const isLong = text.length > LONGEST;
  const { data, error } = useQuery({
    queryKey: ['markdown', path, text],
    queryFn: ({ signal }) => markdownOf(text, folderOf(path), signal),
    enabled: !isLong,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    meta: { quiet: true },
  });
  if (isLong || error)
    return (
      <>
        <Note>{isLong ? t('This text is too long to be formatted.') : t('This text could not be formatted.')}</Note>
        <pre className={classes.plain}>{text}</pre>
      </>
    );
  return data ? <Elements {...props} tree={data} /> : <Skeleton height={240} />;
}

async function markdownOf(text: string, folder: string, signal: AbortSignal): Promise<Root> {
  let tree: Root | undefined;
  const take = (part: object): void => {
    if ('tree' in part) tree = part.tree as Root;
  };
  await runCodeTask({ kind: 'markdown', text, folder }, take, signal);
  if (!tree) throw new Error('The code worker gave no text');
  return tree;
}

function Elements({ projectId, branch, sha, raw, tree }: Props & { tree: Root }) {
  const link = raw?.link;
  const shown = useMemo(() => {
    const components: Partial<Components> = markdownElements({ projectId, branch, sha, rawBase: link ?? null });
    return toJsxRuntime(tree, { Fragment, jsx, jsxs, components, passNode: true });
  }, [projectId, branch, sha, link, tree]);
  return (
    <div className={prose.markdown} data-testid="markdown">
      {shown}
    </div>
  );
}
