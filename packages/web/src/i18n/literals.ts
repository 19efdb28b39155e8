const LITERAL = /([!=]==\s*)?('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`$]*`)/g;

/** Between texts that are the same in English: `t('Open', { context: 'action' })` has the key `Open_action`. */
const CONTEXT = /^,\s*\{\s*context: '(\w+)'/;

/** The texts in the first argument of every `t(…)` and `text(…)`, also those of a choice: `t(reason ?? 'None given')`. */
export function literalsIn(code: string, calls = /\b(?:t|text)\(/g): string[] {
  return [...code.matchAll(calls)].flatMap((call) => {
    const start = (call.index ?? 0) + call[0].length;
    const argument = firstArgument(code, start);
    const context = CONTEXT.exec(code.slice(start + argument.length, start + argument.length + 60))?.[1];
    return [...argument.matchAll(LITERAL)]
      .filter((match) => !match[1])
      .map((match) => unquoted(match[2] ?? '') + (context ? `_${context}` : ''));
  });
}

function firstArgument(code: string, from: number): string {
  let depth = 0;
  let quote = '';
  for (let at = from; at < code.length; at += 1) {
    const sign = code[at] ?? '';
    if (quote !== '') {
      if (sign === '\\') at += 1;
      else if (sign === quote) quote = '';
    } else if (`'"\``.includes(sign)) quote = sign;
    else if ('([{'.includes(sign)) depth += 1;
    else if (depth > 0 && ')]}'.includes(sign)) depth -= 1;
    else if (sign === ',' || sign === ')') return code.slice(from, at);
  }
  return code.slice(from);
}

function unquoted(literal: string): string {
  return literal.slice(1, -1).replace(/\\(['"`\\])/g, '$1');
}
