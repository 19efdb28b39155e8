/** What is wrong in written pages, each with its file and line: `content/docs/en/index.md:3: …`. */
export class ContentError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ContentError';
    this.problems = problems;
  }
}

export const problemAt = (file: string, line: number | undefined, message: string): string =>
  `${file}:${line ?? 1}: ${message}`;
