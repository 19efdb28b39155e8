/** How many rows a page of a list may have, and how many it has when nobody chooses. */
export const PAGE_LIMITS = [10, 25, 50, 100] as const;
export const PAGE_LIMIT: (typeof PAGE_LIMITS)[number] = 25;
