import type { Content } from '@stagi/content/content.ts';
import { BRAND } from '@stagi/contract/brand.ts';
import { type Language, LOCALE } from '@stagi/contract/languages.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { escapeXml } from './xml.ts';

/** Below the address of the blog. */
export const FEED = '/feed.xml';

/** The posts as an Atom feed (RFC 4287), newest first. */
export function blogFeed(content: Content, origin: string, language: Language): string {
  const posts = content.list('blog', language);
  const self = `${origin}${ROUTES.blog.path}${FEED}`;
  const entries = posts.map(({ path, title, description, date }) => {
    const address = escapeXml(`${origin}${path}`);
    return [
      '  <entry>',
      `    <id>${address}</id>`,
      `    <title>${escapeXml(title)}</title>`,
      `    <link href="${address}"/>`,
      `    <updated>${date}T00:00:00Z</updated>`,
      `    <summary>${escapeXml(description)}</summary>`,
      '  </entry>',
    ].join('\n');
  });
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${LOCALE[language]}">`,
    `  <id>${escapeXml(self)}</id>`,
    `  <title>${BRAND}</title>`,
    `  <author><name>${BRAND}</name></author>`,
    `  <link rel="self" href="${escapeXml(self)}"/>`,
    `  <link href="${escapeXml(origin + ROUTES.blog.path)}"/>`,
    `  <updated>${posts[0]?.date ?? '1970-01-01'}T00:00:00Z</updated>`,
    ...entries,
    '</feed>',
    '',
  ].join('\n');
}
