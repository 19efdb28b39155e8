/**
 * Call it when a dialog or panel locks the window: marks whether a scrollbar disappears whose space must stay (see
 * global.css). The window always has a scrollbar, but only some systems give it space of its own: a probe tells, locked
 * or not.
 */
export function reserveScrollbarSpace(): void {
  const probe = document.createElement('div');
  probe.style.cssText = 'position: absolute; top: -100px; width: 50px; height: 50px; overflow: scroll';
  document.body.append(probe);
  document.documentElement.toggleAttribute('data-scrollbar', probe.offsetWidth > probe.clientWidth);
  probe.remove();
}
