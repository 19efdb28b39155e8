/** Digits into the places of `#`; the other signs of a mask are no digits and come by themselves before the next digit. */
export function maskText(mask: string, text: string): string {
  const digits = text.replace(/\D/g, '');
  let masked = '';
  let used = 0;
  for (const sign of mask) {
    if (used === digits.length) break;
    masked += sign === '#' ? digits[used++] : sign;
  }
  return masked;
}

/** Where the cursor belongs in the masked text: behind the same digit as in the typed one. */
export function maskCaret(mask: string, typed: string, caret: number): number {
  return maskText(mask, typed.slice(0, caret)).length;
}
