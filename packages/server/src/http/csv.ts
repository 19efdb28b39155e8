/** The columns of a CSV file by their heading. */
export type CsvColumns<Row> = Record<string, (row: Row) => string | number | null | undefined>;

/** RFC 4180. */
export function csvOf<Row>(columns: CsvColumns<Row>, rows: readonly Row[], { heading }: { heading: boolean }): string {
  const lines = rows.map((row) => Object.values(columns).map((column) => field(column(row))));
  if (heading) lines.unshift(Object.keys(columns));
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

/** Spreadsheets run text that begins so as a formula (CSV injection): a quote before it prevents that. */
const FORMULA = /^[=+\-@\t\r]/;

function field(value: string | number | null | undefined): string {
  const text = String(value ?? '');
  const harmless = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
