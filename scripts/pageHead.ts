import { BRAND } from '../packages/contract/src/brand.ts';
import { LANGUAGES, type Language, LOCALE } from '../packages/contract/src/languages.ts';
import { OPEN_GRAPH_SIZE, openGraphPath } from '../packages/web/src/features/home/screens.ts';
import { PRERENDERED_ORIGIN } from '../packages/web/src/prerender/prerenderedPages.ts';
import type { WrittenSubject } from './writtenAnswers.ts';

interface Page {
  path: string;
  language: Language;
  /** As an element. */
  title: string;
  description: string;
  written?: WrittenSubject;
}

/** What search engines and previews of links read of a prerendered page. */
export function pageHead({ path, language, title, description, written }: Page): string {
  const languages = written?.languages ?? LANGUAGES;
  const words = /<title>(.*)<\/title>/s.exec(title)?.[1] ?? '';
  const address = addressIn(path, language);
  return [
    `<link rel="canonical" href="${address}">`,
    ...(languages.length < 2 ? [] : languages).map(
      (one) => `<link rel="alternate" hreflang="${LOCALE[one]}" href="${addressIn(path, one)}">`,
    ),
    `<link rel="alternate" hreflang="x-default" href="${PRERENDERED_ORIGIN}${path}">`,
    property('og:site_name', BRAND),
    property('og:type', written?.date ? 'article' : 'website'),
    property('og:title', words),
    property('og:description', escaped(description)),
    property('og:url', address),
    property('og:locale', LOCALE[language]),
    property('og:image', PRERENDERED_ORIGIN + openGraphPath(language)),
    property('og:image:width', String(OPEN_GRAPH_SIZE.width)),
    property('og:image:height', String(OPEN_GRAPH_SIZE.height)),
    '<meta name="twitter:card" content="summary_large_image">',
    jsonLd(description, address, language, written),
  ].join('');
}

const property = (name: string, content: string): string => `<meta property="${name}" content="${content}">`;

/** English stands at the bare address, which is what crawlers get; the server answers others in their language there too. */
const addressIn = (path: string, language: Language): string =>
  `${PRERENDERED_ORIGIN}${path}${language === 'en' ? '' : `?lang=${language}`}`;

/** Written pages as schema.org describes them; nothing for others. */
function jsonLd(description: string, address: string, language: Language, written?: WrittenSubject): string {
  if (!written) return '';
  const { title } = written.in(language);
  const data = {
    '@context': 'https://schema.org',
    '@type': { docs: 'TechArticle', tutorials: 'TechArticle', blog: 'BlogPosting', legal: 'WebPage' }[written.section],
    headline: title,
    description,
    url: address,
    inLanguage: LOCALE[language],
    ...(written.date ? { datePublished: written.date } : {}),
    publisher: { '@type': 'Organization', name: BRAND },
  };
  return `<script type="application/ld+json">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
