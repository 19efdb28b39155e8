import { type Expression, type JSXAttrValue, type Module, parseSync } from '@swc/core';

/** Attributes and properties whose words people see or hear. */
const SHOWN = new Set([
  'alt',
  'aria-description',
  'aria-label',
  'aria-placeholder',
  'aria-roledescription',
  'aria-valuetext',
  'caption',
  'description',
  'emptyText',
  'error',
  'heading',
  'hint',
  'label',
  'legend',
  'message',
  'placeholder',
  'subtitle',
  'title',
  'tooltip',
]);

/** Names, units and marks that are the same in every language. */
const SAME_EVERYWHERE = new Set([
  'Stagi',
  'GPU',
  'CPU',
  'GB',
  'MB',
  'SSH',
  'HTTP',
  'HTTPS',
  'ID',
  'USD',
  'STAGI',
  'Esc',
  'Ctrl',
  'Enter',
]);

/**
 * The words of a file that are written on the screen as they stand: text between tags, and what is given to a shown
 * attribute or property without `t(…)` or `text(…)` around it.
 */
export function untranslatedIn(code: string): string[] {
  const found: string[] = [];
  visit(parseSync(code, { syntax: 'typescript', tsx: true, target: 'es2022' }), (node) => {
    if (node.type === 'JSXText') found.push(String(node.value));
    if (node.type === 'JSXAttribute' && SHOWN.has(nameOf(node.name))) found.push(...wordsOf(node.value as Shown));
    if (node.type === 'KeyValueProperty' && SHOWN.has(nameOf(node.key))) found.push(...wordsOf(node.value as Shown));
    if (node.type === 'JSXElement' || node.type === 'JSXFragment')
      for (const child of node.children as Node[])
        if (child.type === 'JSXExpressionContainer') found.push(...wordsOf(child as unknown as Shown));
  });
  return found.map((words) => words.replace(/\s+/g, ' ').trim()).filter(isWords);
}

type Shown = JSXAttrValue | Expression | undefined;
type Node = Record<string, unknown> & { type?: string };

/** The literals that an expression may end as; what a call makes of its arguments is the call's matter. */
function wordsOf(value: Shown): string[] {
  switch (value?.type) {
    case 'StringLiteral':
      return [value.value];
    case 'TemplateLiteral':
      return value.quasis.map(({ cooked }) => cooked ?? '');
    case 'JSXExpressionContainer':
      return value.expression.type === 'JSXEmptyExpression' ? [] : wordsOf(value.expression);
    case 'ParenthesisExpression':
      return wordsOf(value.expression);
    case 'ConditionalExpression':
      return [...wordsOf(value.consequent), ...wordsOf(value.alternate)];
    case 'BinaryExpression':
      return ['??', '||', '&&', '+'].includes(value.operator) ? [...wordsOf(value.left), ...wordsOf(value.right)] : [];
    default:
      return [];
  }
}

function nameOf(name: unknown): string {
  const { value } = name as { value?: unknown };
  return typeof value === 'string' ? value : '';
}

function isWords(words: string): boolean {
  const left = words.split(/[^\p{L}]+/u).filter((word) => word !== '' && !SAME_EVERYWHERE.has(word));
  return left.some((word) => word.length > 1);
}

function visit(node: Module | Node, look: (node: Node) => void): void {
  look(node as Node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      // The elements of lists of arguments are wrapped once more, without a type.
      if (typeof child === 'object' && child !== null) visit(child as Node, look);
    }
  }
}
