/** Addresses that `llms.txt` links to, without the platform's origin. */
export const linksOfIndex = (text: string, origin: string): string[] =>
  [...text.matchAll(/\((https:[^)]+)\)/g)].map(([, address = '']) => address.replace(origin, ''));

/** Whole addresses in `sitemap.xml`. */
export const locationsOfSitemap = (xml: string): string[] =>
  [...xml.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address = '']) => address);
