/** What is shown of a Jupyter notebook (nbformat 4). Outputs are text or PNG: HTML and scripts are shown as text. */
export interface Notebook {
  /** The language of its code, as a code fence would name it. */
  language: string;
  cells: readonly NotebookCell[];
  /** Cells that are there but not shown. */
  hiddenCells: number;
}

export type NotebookCell =
  | { kind: 'markdown'; text: string }
  | { kind: 'raw'; text: string }
  | { kind: 'code'; text: string; count: number | null; outputs: readonly NotebookOutput[] };

export type NotebookOutput =
  | { kind: 'text'; text: string; isError: boolean; isCut: boolean }
  | { kind: 'html'; text: string; isCut: boolean }
  /** Base64. */
  | { kind: 'png'; data: string }
  /** Something that is not shown. */
  | { kind: 'other'; type: string };

const MOST_CELLS = 500;
const LONGEST_OUTPUT = 20_000;
const LARGEST_PNG_CHARACTERS = 8_000_000;
const PNG = 'image/png';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of terminals begin with it
const ANSI = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** Null where the text is no notebook. */
export function parseNotebook(source: string): Notebook | null {
  const read = jsonOf(source);
  if (!isObject(read) || !Array.isArray(read.cells)) return null;
  const metadata = isObject(read.metadata) ? read.metadata : {};
  const kernel = isObject(metadata.kernelspec) ? metadata.kernelspec.language : undefined;
  const info = isObject(metadata.language_info) ? metadata.language_info.name : undefined;
  const language = [info, kernel].find((name) => typeof name === 'string') ?? 'python';
  const cells = read.cells.slice(0, MOST_CELLS).flatMap((cell) => cellOf(cell) ?? []);
  return { language: String(language), cells, hiddenCells: Math.max(0, read.cells.length - MOST_CELLS) };
}

function cellOf(cell: unknown): NotebookCell | null {
  if (!isObject(cell)) return null;
  const text = joined(cell.source);
  switch (cell.cell_type) {
    case 'markdown':
      return { kind: 'markdown', text };
    case 'raw':
      return { kind: 'raw', text };
    case 'code':
      return {
        kind: 'code',
        text,
        count: typeof cell.execution_count === 'number' ? cell.execution_count : null,
        outputs: Array.isArray(cell.outputs)
          ? joinStreams(cell.outputs.flatMap((output) => outputOf(output) ?? []))
          : [],
      };
    default:
      return null;
  }
}

function outputOf(output: unknown): NotebookOutput | null {
  if (!isObject(output)) return null;
  switch (output.output_type) {
    case 'stream':
      return textOutput(joined(output.text), output.name === 'stderr');
    case 'error': {
      const trace = Array.isArray(output.traceback) ? output.traceback.filter(isText).join('\n') : '';
      return textOutput(trace || `${text(output.ename)}: ${text(output.evalue)}`, true);
    }
    case 'display_data':
    case 'execute_result':
      return isObject(output.data) ? dataOutput(output.data) : null;
    default:
      return null;
  }
}

function dataOutput(data: Record<string, unknown>): NotebookOutput | null {
  const png = joined(data[PNG]).replace(/\s/g, '');
  if (png !== '' && png.length <= LARGEST_PNG_CHARACTERS && /^[A-Za-z0-9+/]+={0,2}$/.test(png))
    return { kind: 'png', data: png };
  const plain = joined(data['text/plain']);
  if (plain !== '') return textOutput(plain, false);
  const html = joined(data['text/html']);
  if (html !== '') return { kind: 'html', ...cut(html) };
  const [type] = Object.keys(data);
  return type === undefined ? null : { kind: 'other', type };
}

const textOutput = (text: string, isError: boolean): NotebookOutput => ({
  kind: 'text',
  isError,
  ...cut(text.replace(ANSI, '')),
});

/** A program that prints much leaves many outputs in a row. */
function joinStreams(outputs: NotebookOutput[]): NotebookOutput[] {
  const made: NotebookOutput[] = [];
  for (const output of outputs) {
    const last = made.at(-1);
    if (last?.kind === 'text' && output.kind === 'text' && last.isError === output.isError) {
      const { text, isCut } = cut(last.text + output.text);
      made[made.length - 1] = { ...last, text, isCut: isCut || last.isCut || output.isCut };
    } else made.push(output);
  }
  return made;
}

const cut = (text: string): { text: string; isCut: boolean } => ({
  text: text.slice(0, LONGEST_OUTPUT),
  isCut: text.length > LONGEST_OUTPUT,
});

/** A text is one string or a list of its lines. */
function joined(value: unknown): string {
  if (Array.isArray(value)) return value.filter(isText).join('');
  return text(value);
}

const text = (value: unknown): string => (isText(value) ? value : '');
const isText = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function jsonOf(source: string): unknown {
  try {
    return JSON.parse(source) as unknown;
  } catch (cause) {
    if (cause instanceof SyntaxError) return null;
    throw cause;
  }
}
