/**
 * Marks an English text that a person may read, so that the check of translations finds it; it is translated where it
 * is shown. With values its `{{places}}` are filled in at once: the web app finds the text again by its shape.
 */
export function text<S extends string>(english: S): S;
export function text(english: string, values: Record<string, string | number>): string;
export function text(english: string, values: Record<string, string | number> = {}): string {
  return english.replace(/\{\{(\w+)\}\}/g, (place, name: string) => String(values[name] ?? place));
}
