import { problemAt } from './ContentError.ts';

const OTHER_SHELLS = new Set(['bash', 'shell', 'zsh', 'console', 'shellsession']);

/** Why a code block may not stand in a page: `sh` says whether a test runs it, or why not. */
export function codeProblem(language: string, meta: string): string | null {
  if (language === '') return 'a code block names its language: sh, json, text, …';
  if (OTHER_SHELLS.has(language)) return `a block of ${language} is written as "sh run" or "sh norun: reason"`;
  if (language !== 'sh') return null;
  return meta === 'run' || /^norun: \S/.test(meta) ? null : 'a block of sh says "run" or "norun: reason"';
}

/** The same by lines, without parsing the text, which takes a second for all pages. */
export function fenceProblems(body: string, file: string): string[] {
  const problems: string[] = [];
  let open: string | null = null;
  body.split('\n').forEach((line, index) => {
    const [, fence, info = ''] = /^[\s>]*(?:(?:[-*]|\d+\.)\s+)?(`{3,}|~{3,})\s*(.*)$/.exec(line) ?? [];
    if (fence === undefined) return;
    if (open !== null) {
      if (info.trim() === '' && fence.startsWith(open)) open = null;
      return;
    }
    open = fence;
    const [language = '', ...meta] = info.trim().split(/\s+/);
    const problem = codeProblem(language, meta.join(' '));
    if (problem) problems.push(problemAt(file, index + 1, problem));
  });
  return problems;
}
