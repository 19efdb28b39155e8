import { API_PREFIX, BODY_LIMIT, type Call, needsIdempotencyKey } from '@stagi/contract/call.ts';
import { kebab, type NamedCall } from '../calls.ts';
import { whoMay } from '../words.ts';
import { curlExample, typescriptExample } from './examples.ts';
import { type FieldRow, fieldRows } from './fieldRows.ts';
import { jsonSchema } from './jsonSchema.ts';

/** Shapes with fewer fields are repeated instead of linked. */
const WORTH_A_LINK = 6;

/** The reference of the calls of a domain. */
export function domainMarkdown(calls: readonly NamedCall[]): string {
  // Where a shape was first listed on this page.
  const listed = new Map<string, string>();
  return calls.map((named) => callMarkdown(named, listed)).join('\n\n');
}

/** The same without fields and examples: what is looked for. */
export const briefMarkdown = (calls: readonly NamedCall[]): string =>
  calls
    .map(
      ({ domain, name, call }) => `## ${domain}.${name} {#${kebab(name)}}\n\n${escaped(call.summary)} \`${call.path}\``,
    )
    .join('\n\n');

function callMarkdown({ domain, name, call }: NamedCall, listed: Map<string, string>): string {
  const id = kebab(name);
  return [
    `## ${domain}.${name} {#${id}}`,
    escaped(call.summary),
    `\`POST ${API_PREFIX}${call.path}\``,
    notes(call)
      .map((note) => `- ${note}`)
      .join('\n'),
    `### Input {#${id}-input}`,
    fields({ domain, name, call }, 'input', listed),
    `### Output {#${id}-output}`,
    call.streamed ? `A stream of lines (\`${call.streamed}\`). Each line is an object:` : '',
    fields({ domain, name, call }, 'output', listed),
    `### Example {#${id}-example}`,
    ['::::tabs', ':::tab[curl]', '```sh norun: an example', curlExample(domain, name, call), '```', ':::'].join('\n'),
    [':::tab[TypeScript]', '```ts', typescriptExample(domain, name, call), '```', ':::', '::::'].join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .replace(':::\n\n:::tab', ':::\n:::tab');
}

function notes(call: Call): string[] {
  const who = whoMay(call, 'en');
  const found = [
    `**Who may call it**: ${typeof who === 'string' ? `${who}.` : `members with ${who.map((one) => `\`${one}\``).join(' or ')}.`}`,
  ];
  if (call.auth !== 'public') {
    found.push(
      call.byToken
        ? '**API tokens**: allowed.'
        : `**API tokens**: refused; the call needs a session${call.byApp ? ' or an authorized app' : ''}.`,
    );
  }
  if (call.stepUp) {
    found.push(
      '**Step-up**: needs step-up authentication within the last minutes. Otherwise it is refused with status 403 and `"code": "step-up"`.',
    );
  }
  if (needsIdempotencyKey(call.path)) {
    found.push('**Idempotency**: needs the header `Idempotency-Key`. The same key with the same input acts once.');
  }
  if (call.bodyLimit !== undefined && call.bodyLimit !== BODY_LIMIT) {
    found.push(`**Body**: at most ${call.bodyLimit} bytes.`);
  }
  const refusals = ['400 for wrong input, with the fields in `fieldsWithError`'];
  if (call.auth !== 'public') refusals.push('401 without a valid session or token');
  if (Array.isArray(call.auth)) refusals.push('403 without the permission');
  found.push(`**Errors**: ${refusals.join('; ')}. See [errors](/docs/api).`);
  return found;
}

function fields(
  { domain, name, call }: Omit<NamedCall, 'address'>,
  io: 'input' | 'output',
  listed: Map<string, string>,
): string {
  const rows = fieldRows(jsonSchema(call[io], io));
  if (rows.length === 0) return io === 'input' ? 'No fields: `{}`.' : 'Without fixed fields.';
  const place = (field: string): string => `[${domain}.${name}: \`${field}\`](#${kebab(name)}-${io})`;
  const lines = shortened(rows, place, listed).map(({ field, type, isRequired, values, limits, sameAs }) => {
    const notes = io === 'input' ? [...values, ...limits] : values;
    const links = sameAs === null ? [] : [`fields as in ${sameAs}`];
    return [`\`${field}\``, escaped(type), isRequired ? 'yes' : 'no', [...notes.map(escaped), ...links].join(', ')];
  });
  const head = io === 'input' ? ['Field', 'Type', 'Required', 'Limits'] : ['Field', 'Type', 'Always there', 'Notes'];
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...lines.map(line)].join('\n');
}

/** Leaves out the fields of a shape that the page has listed before; `sameAs` is the link to there. */
function shortened(
  rows: readonly FieldRow[],
  place: (field: string) => string,
  listed: Map<string, string>,
): (FieldRow & { sameAs: string | null })[] {
  const shown: (FieldRow & { sameAs: string | null })[] = [];
  let below: string | null = null;
  for (const row of rows) {
    if (below !== null && isWithin(row.field, below)) continue;
    below = null;
    const { shape } = row;
    const isLong = shape !== null && rows.filter(({ field }) => isWithin(field, row.field)).length >= WORTH_A_LINK;
    const sameAs = isLong ? (listed.get(shape) ?? null) : null;
    if (isLong && sameAs === null) listed.set(shape, place(row.field));
    if (sameAs !== null) below = row.field;
    shown.push({ ...row, sameAs });
  }
  return shown;
}

const isWithin = (field: string, other: string): boolean =>
  field.startsWith(other) && /^[.[]/.test(field.slice(other.length));

/** Texts of the contract are plain text. */
const escaped = (text: string): string => text.replace(/[\\`*_{}[\]<>#~&]/g, '\\$&');
