interface Pattern {
  template: string;
  names: string[];
  match: RegExp;
}

/**
 * Some messages arrive with their values filled in already (a daemon's word, a rule shared with it).
 * Finds the text they were made from among the known ones, so that they can be translated all the same.
 */
export function templatePatterns(texts: Iterable<string>): Pattern[] {
  return [...texts].filter(hasPlaceAmongWords).map((template) => ({
    template,
    names: [...template.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1] ?? ''),
    match: new RegExp(
      `^${template
        .split(/\{\{\w+\}\}/)
        .map(escaped)
        .join('(.+?)')}$`,
      's',
    ),
  }));
}

export function matchTemplate(
  message: string,
  patterns: readonly Pattern[],
): { template: string; values: Record<string, string | number> } | null {
  for (const { template, names, match } of patterns) {
    const found = match.exec(message);
    if (!found) continue;
    return { template, values: Object.fromEntries(names.map((name, index) => [name, found[index + 1] ?? ''])) };
  }
  return null;
}

/** Short texts with places, like `{{from}}–{{to}}`, would match what they were not made for. */
function hasPlaceAmongWords(text: string): boolean {
  return text.includes('{{') && text.replace(/\{\{\w+\}\}/g, '').trim().length >= 12;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
