import { createCssVariablesTheme, createHighlighterCore, type GrammarState, type HighlighterCore } from '@shikijs/core';
import { createJavaScriptRegexEngine } from '@shikijs/engine-javascript';
import { TOKEN_KINDS } from '@stagi/contract/tokenKinds.ts';
import { GRAMMARS, type Language } from './languages.ts';

/** Pairs of a length and a kind (an index of `TOKEN_KINDS`), which together are as long as the line. */
export type LineTokens = number[];

/** Longer lines, as of minified code, stay without colours: a grammar may take seconds for one. */
const LONGEST_LINE = 2_000;
/** Lines between two looks at the clock and at messages. */
const AT_ONCE = 200;
/** The first line of a language also pays for its patterns. */
const LINE_LIMIT_MS = 1_000;

const theme = createCssVariablesTheme({ name: 'kinds', variablePrefix: '', fontStyle: false });

let highlighter: Promise<HighlighterCore> | null = null;

/** The tokens of a text, some lines at a time. Lines of `\r\n` count the `\r` as part of the line. */
export async function* highlightLines(text: string, language: Language): AsyncGenerator<LineTokens[]> {
  highlighter ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    // A pattern that the browser's expressions cannot say is left out instead of failing the whole file.
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const made = await highlighter;
  await made.loadLanguage(GRAMMARS[language]);
  const lang = await registeredName(language);
  const lines = text.split('\n');
  let state: GrammarState | undefined;
  for (let from = 0; from < lines.length; from += AT_ONCE) {
    const part = lines.slice(from, from + AT_ONCE);
    const tokens = made.codeToTokensBase(part.join('\n'), {
      lang,
      theme: 'kinds',
      grammarState: state,
      tokenizeMaxLineLength: LONGEST_LINE,
      tokenizeTimeLimit: LINE_LIMIT_MS,
    });
    state = made.getLastGrammarState(tokens);
    yield part.map((line, at) => packed(line, tokens[at] ?? []));
  }
}

/** A module of grammars ends with the one it is named for. */
async function registeredName(language: Language): Promise<string> {
  return (await GRAMMARS[language]()).default.at(-1)?.name ?? language;
}

function packed(line: string, tokens: readonly { content: string; color?: string }[]): LineTokens {
  const made: LineTokens = [];
  let length = 0;
  for (const { content, color } of tokens) {
    const kind = kindOf(color);
    if (made.at(-1) === kind) made[made.length - 2] = (made.at(-2) ?? 0) + content.length;
    else made.push(content.length, kind);
    length += content.length;
  }
  // The rest, such as a `\r`.
  if (length < line.length) made.push(line.length - length, 0);
  return made;
}

function kindOf(color: string | undefined): number {
  const name = /^var\((?:token-)?([\w-]+)\)$/.exec(color ?? '')?.[1] ?? '';
  return Math.max(0, (TOKEN_KINDS as readonly string[]).indexOf(name));
}
