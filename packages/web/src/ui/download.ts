/** Hands a text over as a file of its own. */
export function downloadText(name: string, parts: readonly string[], type = 'text/plain'): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Browsers read the address after the click has returned.
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
