import type { Project } from '@stagi/contract/projects.ts';
import { text } from '@stagi/contract/text.ts';

/** The lines of a first push: from nothing, or from a repository that exists. They work as they stand. */
export function firstPush(
  { slug, title, defaultBranch }: Pick<Project, 'slug' | 'title' | 'defaultBranch'>,
  address: string,
): { title: string; lines: string[] }[] {
  return [
    {
      title: text('A new repository'),
      lines: [
        `git clone ${address}`,
        `cd ${slug}`,
        `git switch -c ${defaultBranch}`,
        `echo ${quoted(`# ${title}`)} > README.md`,
        'git add README.md',
        'git commit -m "Add a README"',
        `git push -u origin ${defaultBranch}`,
      ],
    },
    {
      title: text('A repository that exists'),
      lines: [`git remote add stagi ${address}`, `git push -u stagi HEAD:${defaultBranch}`, 'git push stagi --tags'],
    },
  ];
}

/** A word that a shell takes as it is written. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
