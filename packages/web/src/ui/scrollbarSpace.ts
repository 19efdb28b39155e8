/**
 * Call it before a dialog or panel locks the window: marks whether a scrollbar disappears whose space must stay (see
 * global.css).
 */
export function reserveScrollbarSpace(): void {
  const { documentElement: page } = document;
  page.toggleAttribute('data-scrolled', page.scrollHeight > page.clientHeight);
}
