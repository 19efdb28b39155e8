import { join } from 'node:path';
import type { Content } from '@stagi/content/content.ts';
import { fillPlace, fillText, isPlace, PLACE, type Places } from '@stagi/content/places.ts';
import type { Language } from '@stagi/contract/languages.ts';
import type { Config } from '../config/config.ts';
import { escapeXml } from './xml.ts';

const FOLDER = join(import.meta.dirname, '../../../../content');

let loaded: Promise<Content> | null = null;

/**
 * The written pages, read once, when they are first asked for. Their code is loaded then too: it would double what a
 * process does before it serves.
 */
export function written(): Promise<Content> {
  loaded ??= import('@stagi/content/content.ts').then(({ loadContent }) => loadContent(FOLDER));
  return loaded;
}

/** What legal texts say about the operator; what is not set is left out, and the text gets a neutral wording. */
export function placesOf({ site: { operator } }: Pick<Config, 'site'>): Places {
  const { name, address, date } = operator;
  return {
    ...(name ? { 'operator.name': name } : {}),
    ...(address ? { 'operator.address': address } : {}),
    ...(date ? { 'operator.date': date } : {}),
  };
}

/** Fills the places of a text that was made without knowing the operator. */
export function fillPlaces(text: string, config: Pick<Config, 'site'>, language: Language): string {
  return fillText(text, placesOf(config), language);
}

/** The same in a page of HTML, where data that scripts read is JSON. */
export function fillPlacesOfHtml(html: string, config: Pick<Config, 'site'>, language: Language): string {
  if (!html.includes('{{operator.')) return html;
  const places = placesOf(config);
  const filled = (part: string, escaped: (text: string) => string): string =>
    part.replace(PLACE, (whole, name: string) =>
      isPlace(name) ? escaped(fillPlace(name, places, language).text) : whole,
    );
  return html
    .split(/(<script[^>]*>[^<]*<\/script>)/)
    .map((part, at) => filled(part, at % 2 === 1 ? escapeJson : escapeXml))
    .join('');
}

/** Within a string of JSON that stands in HTML: "<" could end its element. */
const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1).replaceAll('<', '\\u003c');
