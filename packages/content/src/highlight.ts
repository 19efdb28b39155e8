import {
  createCssVariablesTheme,
  createHighlighterCore,
  type HighlighterCore,
  type LanguageRegistration,
} from '@shikijs/core';
import { createJavaScriptRegexEngine } from '@shikijs/engine-javascript';
import { TOKEN_KINDS } from '@stagi/contract/tokenKinds.ts';
import type { ElementContent } from 'hast';

type Grammar = () => Promise<{ default: LanguageRegistration[] }>;

const shell: Grammar = () => import('@shikijs/langs/shellscript');
const typescript: Grammar = () => import('@shikijs/langs/typescript');
const javascript: Grammar = () => import('@shikijs/langs/javascript');
const yaml: Grammar = () => import('@shikijs/langs/yaml');

/** By what a code block names. Blocks of other languages have no colours. */
const GRAMMARS = new Map<string, Grammar>([
  ['sh', shell],
  ['ts', typescript],
  ['typescript', typescript],
  ['js', javascript],
  ['javascript', javascript],
  ['yaml', yaml],
  ['yml', yaml],
  ['json', () => import('@shikijs/langs/json')],
  ['jsonc', () => import('@shikijs/langs/jsonc')],
  ['python', () => import('@shikijs/langs/python')],
  ['dockerfile', () => import('@shikijs/langs/docker')],
  ['sql', () => import('@shikijs/langs/sql')],
  ['ini', () => import('@shikijs/langs/ini')],
  ['toml', () => import('@shikijs/langs/toml')],
  ['nginx', () => import('@shikijs/langs/nginx')],
  ['html', () => import('@shikijs/langs/html')],
  ['http', () => import('@shikijs/langs/http')],
  ['diff', () => import('@shikijs/langs/diff')],
]);

const theme = createCssVariablesTheme({ name: 'kinds', variablePrefix: '', fontStyle: false });
let highlighter: Promise<HighlighterCore> | null = null;

/** The code in pieces; the `kind` of a piece is an index of `TOKEN_KINDS`, for which the web app has colours. */
export async function highlight(code: string, language: string): Promise<ElementContent[]> {
  const grammar = GRAMMARS.get(language);
  if (!grammar) return [{ type: 'text', value: code }];
  highlighter ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const made = await highlighter;
  const { default: registrations } = await grammar();
  await made.loadLanguage(registrations);
  // A module of grammars ends with the one it is named for.
  const lang = registrations.at(-1)?.name ?? language;
  const pieces: { text: string; kind: number }[] = [];
  const add = (text: string, kind: number): void => {
    const last = pieces.at(-1);
    // Spaces have no colour, and belong to the piece before them.
    if (last && (last.kind === kind || text.trim() === '')) last.text += text;
    else pieces.push({ text, kind });
  };
  // Without a limit of time, after which the rest of a line has no colours: a busy machine would render other pages.
  const lines = made.codeToTokensBase(code, { lang, theme: 'kinds', tokenizeTimeLimit: 0 });
  lines.forEach((line, index) => {
    if (index > 0) add('\n', 0);
    for (const { content, color } of line) add(content, kindOf(color));
  });
  return pieces.map(({ text, kind }) =>
    kind === 0
      ? { type: 'text', value: text }
      : {
          type: 'element',
          tagName: 'token',
          properties: { kind: String(kind) },
          children: [{ type: 'text', value: text }],
        },
  );
}

function kindOf(color: string | undefined): number {
  const name = /^var\((?:token-)?([\w-]+)\)$/.exec(color ?? '')?.[1] ?? '';
  return Math.max(0, (TOKEN_KINDS as readonly string[]).indexOf(name));
}
