import type { Page } from '@playwright/test';

/**
 * Words that something else is drawn over, and all that lies beneath what floats, one line for each. Scrolls through the
 * whole page. What sticks to an edge of the window may cover what can be scrolled away from it.
 */
export async function findCoveredText(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const root = document.documentElement;
    const PICTURES_AND_CONTROLS =
      'a, button, input, textarea, select, img, svg, canvas, table, [role], [tabindex]:not(main)';
    /** People close these to see what lies beneath. */
    const OPENED = '[role="dialog"], [role="menu"], [role="listbox"], [role="tooltip"]';
    /** In px, along a line of text. */
    const TEXT_STEP = 32;
    /** In px, across what floats; larger where that would be more points. */
    const FLOATING_STEP = 13;
    const FLOATING_POINTS = 400;
    // An element that lets the pointer through covers all the same.
    const reachable = new CSSStyleSheet();
    reachable.replaceSync('* { pointer-events: auto !important }');
    document.adoptedStyleSheets.push(reachable);
    const floating = [...document.body.querySelectorAll('*')].filter((element) => edgeOf(element) === element);
    const lines = new Set<string>();
    for (let top = 0; ; top += root.clientHeight * 0.75) {
      window.scrollTo({ top, behavior: 'instant' });
      await new Promise(requestAnimationFrame);
      lookAtWindow();
      // Content that comes late moves the end of the page; beneath a dialog it does not scroll at all.
      if (root.scrollTop < top - 1 || root.scrollTop + root.clientHeight >= root.scrollHeight - 1) break;
    }
    window.scrollTo({ top: 0, behavior: 'instant' });
    lookAtStrip();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== reachable);
    return [...lines];

    function lookAtWindow(): void {
      const clips = new Map<Element, DOMRect>();
      // A dialog that has to be closed first covers on purpose.
      const shown = document.querySelector('[role="dialog"][aria-modal="true"]') ?? document.body;
      const walker = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!element || !node.textContent?.trim()) continue;
        const boxes = [...boxesOf(node)].filter(isInWindow);
        if (boxes.length === 0 || !isVisible(element)) continue;
        for (const box of boxes) lookAtWords(element, overlap(box, clipOf(element, clips)));
      }
      for (const element of floating) if (isVisible(element)) lookBeneath(element);
    }

    function lookBeneath(floats: Element): void {
      const box = overlap(floats.getBoundingClientRect(), windowBox());
      const step = Math.max(FLOATING_STEP, Math.sqrt((box.width * box.height) / FLOATING_POINTS));
      for (let x = box.left + 1; x < box.right; x += step)
        for (let y = box.top + 1; y < box.bottom; y += step) {
          const stack = document.elementsFromPoint(x, y);
          const own = stack.filter((element) => floats.contains(element));
          // Something else may lie above it, as a dialog does.
          if (stack[0] !== own[0] || !own.some((element) => isDrawn(element, x, y))) continue;
          const beneath = stack.find((element) => !own.includes(element) && isContent(element));
          if (beneath && !beneath.contains(floats) && !canGetOutOfTheWay(floats, beneath)) noteCover(beneath, floats);
        }
    }

    function isContent(element: Element): boolean {
      const { borderTopWidth, borderRightWidth, backgroundImage } = getComputedStyle(element);
      const isCard = borderTopWidth !== '0px' && borderRightWidth !== '0px';
      return (
        textNodesOf(element).length > 0 ||
        element.matches(PICTURES_AND_CONTROLS) ||
        isCard ||
        backgroundImage !== 'none'
      );
    }

    function textNodesOf(element: Element): ChildNode[] {
      return [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
    }

    function noteCover(element: Element, cover: Element): void {
      lines.add(`covered: ${briefly(element)} by ${briefly(cover)}`);
    }

    /** On a phone the place of the feedback button is as a lower edge of the window. */
    function lookAtStrip(): void {
      const strip = document.querySelector('[data-feedback]');
      if (!strip || getComputedStyle(strip).position !== 'sticky') return;
      const { left, width } = strip.getBoundingClientRect();
      if (left > 0 || width < root.clientWidth) lines.add('the strip of the feedback button leaves a gap at the side');
      if (!/^rgb\(/.test(getComputedStyle(strip).backgroundColor))
        lines.add('the strip of the feedback button is not opaque');
    }

    function isInWindow({ top, bottom, width, height }: DOMRect): boolean {
      return bottom > 0 && top < root.clientHeight && width > 2 && height > 2;
    }

    function lookAtWords(element: Element, box: DOMRect): void {
      if (box.width <= 2 || box.height <= 2) return;
      const y = box.y + box.height / 2;
      for (let x = box.x + Math.min(TEXT_STEP, box.width) / 2; x < box.right; x += TEXT_STEP) {
        const cover = coverOfWords(x, y, element);
        if (cover) {
          noteCover(element, cover);
          return;
        }
      }
    }

    function coverOfWords(x: number, y: number, of: Element): Element | null {
      const top = document.elementFromPoint(x, y);
      if (!top || top.contains(of) || of.contains(top)) return null;
      for (const above of document.elementsFromPoint(x, y)) {
        if (above.contains(of) || of.contains(above)) return null;
        if (isDrawn(above, x, y) && !canGetOutOfTheWay(above, of)) return above;
      }
      return null;
    }

    /** The ancestor by which a cover is fixed to the window, or sticks to an edge. */
    function edgeOf(cover: Element): Element | null {
      for (let around: Element | null = cover; around; around = around.parentElement)
        if (['fixed', 'sticky'].includes(getComputedStyle(around).position)) return around;
      return null;
    }

    function canGetOutOfTheWay(cover: Element, of: Element): boolean {
      const opened = cover.closest(OPENED) ?? cover.querySelector('[role="dialog"]');
      if (opened && !opened.contains(of)) return true;
      const edge = edgeOf(cover);
      if (!edge || edge.contains(of) || getComputedStyle(edge).position !== 'sticky') return false;
      for (let around = edge.parentElement; around && around !== document.body; around = around.parentElement)
        if (/auto|scroll/.test(getComputedStyle(around).overflow)) return true;
      const { top, bottom } = edge.getBoundingClientRect();
      const isAbove = top + bottom < root.clientHeight;
      return isAbove ? root.scrollTop > 0 : root.scrollTop + root.clientHeight < root.scrollHeight - 1;
    }

    /** True where something of an element itself is to be seen at a point. */
    function isDrawn(element: Element, x: number, y: number): boolean {
      if (!isVisible(element)) return false;
      if (element.matches('img, canvas, video, iframe, svg *')) return true;
      const { backgroundColor, backgroundImage } = getComputedStyle(element);
      if (backgroundImage !== 'none' || !/^(?:transparent|rgba\(.*, 0\)|.* \/ 0\))$/.test(backgroundColor)) return true;
      return textNodesOf(element)
        .flatMap((node) => [...boxesOf(node)])
        .some((box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom);
    }

    function isVisible(element: Element): boolean {
      return (
        !element.closest('[inert]') && element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      );
    }

    function boxesOf(node: Node): DOMRectList {
      const range = document.createRange();
      range.selectNodeContents(node);
      return range.getClientRects();
    }

    function clipOf(element: Element, clips: Map<Element, DOMRect>): DOMRect {
      const known = clips.get(element);
      if (known) return known;
      const around = element.parentElement;
      const outer = around ? clipOf(around, clips) : windowBox();
      const isRoot = element === document.body || element === root;
      const cuts = !isRoot && getComputedStyle(element).overflow !== 'visible';
      const clip = cuts ? overlap(element.getBoundingClientRect(), outer) : outer;
      clips.set(element, clip);
      return clip;
    }

    function windowBox(): DOMRect {
      return new DOMRect(0, 0, root.clientWidth, root.clientHeight);
    }

    function overlap(one: DOMRect, other: DOMRect): DOMRect {
      const left = Math.max(one.left, other.left);
      const top = Math.max(one.top, other.top);
      const width = Math.min(one.right, other.right) - left;
      const height = Math.min(one.bottom, other.bottom) - top;
      return new DOMRect(left, top, Math.max(0, width), Math.max(0, height));
    }

    function briefly(element: Element): string {
      const name = [element.tagName.toLowerCase(), ...element.classList].join('.').slice(0, 60);
      return `${name} "${element.textContent?.trim().slice(0, 60)}"`;
    }
  });
}
