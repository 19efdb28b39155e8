/** For the `ref` of an element that replaces a focused one; it needs `tabIndex={-1}`. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus({ preventScroll: true });
}
