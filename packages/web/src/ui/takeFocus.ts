/** For the `ref` of what takes the place of something that had the focus; it needs `tabIndex={-1}`. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus({ preventScroll: true });
}
