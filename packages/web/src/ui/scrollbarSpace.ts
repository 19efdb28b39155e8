/** Before a dialog or panel locks the window: whether a scrollbar goes whose place is to stay (see global.css). */
export function reserveScrollbarSpace(): void {
  const { documentElement: page } = document;
  page.toggleAttribute('data-scrolled', page.scrollHeight > page.clientHeight);
}
