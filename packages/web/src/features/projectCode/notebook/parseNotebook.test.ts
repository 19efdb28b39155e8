import { describe, expect, it } from 'vitest';
import { parseNotebook } from './parseNotebook.ts';

const of = (cells: unknown[], metadata: unknown = {}) =>
  parseNotebook(JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata, cells }));
const code = (...outputs: unknown[]) => ({ cell_type: 'code', source: ['a = 1\n', 'a'], execution_count: 3, outputs });
const outputsOf = (...outputs: unknown[]) => {
  const [cell] = of([code(...outputs)])?.cells ?? [];
  return cell?.kind === 'code' ? cell.outputs : null;
};
const result = (data: unknown) => ({ output_type: 'execute_result', data });

describe('a notebook', () => {
  it('has cells of text and code in its language', () => {
    const read = of([{ cell_type: 'markdown', source: '# Hi' }, code(), { cell_type: 'raw', source: 'x' }], {
      language_info: { name: 'julia' },
    });
    expect(read).toEqual({
      language: 'julia',
      hiddenCells: 0,
      cells: [
        { kind: 'markdown', text: '# Hi' },
        { kind: 'code', text: 'a = 1\na', count: 3, outputs: [] },
        { kind: 'raw', text: 'x' },
      ],
    });
  });

  it('shows text without the colours of a terminal, what follows each other as one', () => {
    const stream = (text: string | string[], name = 'stdout') => ({ output_type: 'stream', name, text });
    expect(outputsOf(stream('a\n'), stream(['\u001b[31mb', '\u001b[0m\n']), stream('c', 'stderr'))).toEqual([
      { kind: 'text', text: 'a\nb\n', isError: false, isCut: false },
      { kind: 'text', text: 'c', isError: true, isCut: false },
    ]);
  });

  it('shows a picture rather than its description, and only as PNG', () => {
    expect(outputsOf(result({ 'text/plain': '<Figure>', 'image/png': 'iVBO\nRw0K\n' }))).toEqual([
      { kind: 'png', data: 'iVBORw0K' },
    ]);
    expect(outputsOf(result({ 'image/svg+xml': '<svg onload="x"/>' }))).toEqual([
      { kind: 'other', type: 'image/svg+xml' },
    ]);
    expect(outputsOf(result({ 'image/png': 'x" onerror="y', 'text/plain': 'p' }))).toEqual([
      { kind: 'text', text: 'p', isError: false, isCut: false },
    ]);
  });

  it('shows HTML as text, and scripts not at all', () => {
    expect(outputsOf(result({ 'text/html': ['<script>', 'x</script>'] }))).toEqual([
      { kind: 'html', text: '<script>x</script>', isCut: false },
    ]);
    expect(outputsOf(result({ 'application/javascript': 'x' }))).toEqual([
      { kind: 'other', type: 'application/javascript' },
    ]);
  });

  it('shows how an error came about', () => {
    expect(outputsOf({ output_type: 'error', ename: 'E', evalue: 'v', traceback: ['a', 'b'] })).toEqual([
      { kind: 'text', text: 'a\nb', isError: true, isCut: false },
    ]);
    expect(outputsOf({ output_type: 'error', ename: 'E', evalue: 'v' })).toEqual([
      { kind: 'text', text: 'E: v', isError: true, isCut: false },
    ]);
  });

  it('is cut where it is very long, and says so', () => {
    const [output] = outputsOf(result({ 'text/plain': 'x'.repeat(30_000) })) ?? [];
    expect(output).toMatchObject({ isCut: true });
    expect(of(Array.from({ length: 501 }, () => code()))?.hiddenCells).toBe(1);
  });

  it.each(['', 'null', '[]', '{}', '{"cells":1}', '{"cells":', '"x"'])('is not %s', (source) => {
    expect(parseNotebook(source)).toBeNull();
  });

  it('leaves out what no notebook has', () => {
    expect(
      of([null, 1, 'x', {}, { cell_type: 'widget' }, code(null, 1, {}, { output_type: 'stream' })])?.cells,
    ).toEqual([
      { kind: 'code', text: 'a = 1\na', count: 3, outputs: [{ kind: 'text', text: '', isError: false, isCut: false }] },
    ]);
  });
});
