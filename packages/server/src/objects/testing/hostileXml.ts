import { newSeed, seeded } from '@stagi/contract/testing/random.ts';

/** Texts by what they are, made when they are needed: most have nearly the 4 MiB that a batch deletion may have. */
export type Texts = Record<string, () => string>;

const LIMIT_BYTES = 4 * 1024 * 1024 - 2_048;
const MANY = 60_000;

export const fill = (unit: string, bytes = LIMIT_BYTES): string =>
  unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));
const inRoot = (content: string): string => `<Delete>${content}</Delete>`;
const inKey = (text: string): string => inRoot(`<Object><Key>${text}</Key></Object>`);
const numbered = (count: number, text: (n: string) => string): string =>
  Array.from({ length: count }, (_, n) => text(n.toString(36))).join('');

/** Documents for which a parser may do too much. */
const PARSED: Texts = {
  '& as an entity': () => inKey(fill('&amp;')),
  '& in CDATA': () => inKey(`<![CDATA[${fill('&')}]]>`),
  '& as a number': () => inKey(fill('&#38;')),
  'numbers of 60,000 digits': () => inKey(fill(`&#${'0'.repeat(MANY)}38;`)),
  'names of entities of 60,000 letters': () => inKey(fill(`&${'a'.repeat(MANY)};`)),
  '] in CDATA': () => inKey(`<![CDATA[${fill(']')}x]]>`),
  'empty CDATA': () => inKey(fill('<![CDATA[]]>')),
  'CDATA within CDATA': () => inKey(`<![CDATA[${fill('<![CDATA[')}]]>`),
  'CDATA without an end': () => `<Delete><![CDATA[${fill(']] >')}`,
  '380,000 attributes': () => `<Delete${numbered(380_000, (n) => ` a${n}=""`)}/>`,
  'one attribute again and again': () => `<Delete${fill(' a=""')}/>`,
  'entities in attributes': () => `<Delete${numbered(90, (n) => ` a${n}="${'&lt;'.repeat(10_000)}"`)}/>`,
  'an attribute of 4 MiB': () => `<Delete a="${fill('x ')}"/>`,
  'names of attributes of 60,000 letters': () => `<Delete${numbered(60, (n) => ` ${'a'.repeat(MANY)}${n}=""`)}/>`,
  'prefixes of namespaces': () => `<Delete${numbered(200_000, (n) => ` xmlns:p${n}="u"`)}/>`,
  'a name of prefixes': () => inRoot(fill(`<${'a:'.repeat(MANY / 2)}b/>`)),
  'empty comments': () => inRoot(fill('<!---->')),
  'long comments': () => inRoot(fill(`<!--${'- '.repeat(MANY / 2)}-->`)),
  'a comment of 4 MiB before the root': () => `<!--${fill('x')}-->${inKey('a')}`,
  'processing instructions': () => inRoot(fill('<?a?>')),
  'processing instructions before the root': () => fill(`<?a ${'?'.repeat(MANY)} ?>`) + inKey('a'),
  'a declaration of 60,000 letters': () => inRoot(`<!${'A'.repeat(MANY)}>`),
  'a declaration of 15,000 letters before the root': () => `<!${'a'.repeat(15_000)}>${inKey('a')}`,
  'a declaration of quotes': () => inRoot(`<!${`"'`.repeat(MANY / 2)}>`),
  'short declarations': () => inRoot(fill('<!a>')),
  'a declaration without an end': () => `<!${fill('A')}`,
  'a document type of 4 MiB': () => `<!DOCTYPE d [${fill('<!ENTITY e "x">')}]>${inKey('&e;')}`,
  'entities of entities': () =>
    `<!DOCTYPE d [<!ENTITY a "x">${numbered(30, (n) => `<!ENTITY b${n} "${'&a;'.repeat(10)}">`)}]>${inKey('&b9;')}`,
  'a document type without an end': () => `<!DOCTYPE d [${fill('<!ELEMENT a ANY> ')}`,
  'spaces before the root': () => fill(' ') + inKey('a'),
  'line breaks': () => inRoot(fill('\r\n')),
  'spaces in tags': () => fill(`<Delete${' '.repeat(MANY)}`),
  'spaces in end tags': () => `<Delete></Delete${fill(' ')}>`,
  'spaces after <': () => `<${fill(' ')}Delete/>`,
  'names of 60,000 letters': () => inRoot(fill(`<${'n'.repeat(MANY)}></${'n'.repeat(MANY)}>`)),
};

/** Documents with too much of something that is allowed. */
const BUILT: Texts = {
  '190,000 elements': () => inRoot(fill('<a/>', 760_000)),
  '1,000,000 elements': () => inRoot(fill('<a/>')),
  '60,000 kinds of elements': () => inRoot(numbered(MANY, (n) => `<a${n}/>`)),
  '190,000 objects': () => inRoot('<Object/>'.repeat(190_000)),
  'objects with 190,000 keys': () => inRoot(`<Object>${'<Key/>'.repeat(190_000)}</Object>`),
  '1,000 levels': () => inRoot('<a>'.repeat(1_000) + '</a>'.repeat(1_000)),
  '600,000 levels without an end': () => inRoot(fill('<Object>')),
  '20 levels, as often as fits': () => inRoot(fill('<a>'.repeat(19) + '</a>'.repeat(19), 1_300_000)),
  '1,000 keys as long as they may be': () => inRoot(`<Object><Key>${'k'.repeat(1_024)}</Key></Object>`.repeat(1_000)),
  'a second root': () => inRoot('') + fill('<Delete/>'),
};

/** Documents of which the answer tells a part again. */
const ECHOED: Texts = {
  'a key of control characters': () => inKey(`<![CDATA[${fill('\u0001')}]]>`),
  'a key of &': () => inKey(`<![CDATA[${fill('&')}]]>`),
  'a key of quotes': () => inKey(fill('"')),
  'a key of surrogate pairs': () => inKey(fill('\u{1f600}')),
  'a key of line breaks': () => inKey(fill('\n')),
  '1,000 keys of control characters': () =>
    inRoot(`<Object><Key>${'\u0002'.repeat(4_100)}</Key></Object>`.repeat(1_000)),
};

const TOKENS =
  '<|>|</|/>|<!|<!--|-->|<![CDATA[|]]>|<?|?>|&|&amp;|&#|;|"|\'|=| |\t|\n|]|[|-|Delete|Object|Key|xmlns:|a|:|\u0001|é|😀|<!DOCTYPE '.split(
    '|',
  );

/** A megabyte of tokens in any order within a key; half of them are wrapped so that the mix is reached by the parser. */
function mixed(): Texts {
  const seed = newSeed();
  console.log(`hostile XML: seed ${seed}`);
  const random = seeded(seed);
  return Object.fromEntries(
    ['CDATA', 'a comment', 'an attribute', 'a declaration', 'nothing'].map((place) => [
      `a mix of tokens in ${place}`,
      () => {
        const mix = Array.from({ length: 200_000 }, () => random.pick(TOKENS)).join('');
        if (place === 'CDATA') return inKey(`<![CDATA[${mix.replaceAll(']]>', ']')}]]>`);
        if (place === 'a comment') return inRoot(`<!--${mix.replaceAll('--', '-')}-->`);
        if (place === 'an attribute') return `<Delete a="${mix.replace(/["&<]/g, 'x')}"/>`;
        return place === 'nothing' ? inKey(mix) : inRoot(`<!${mix.slice(0, 15_000).replace(/[<>"'[\]-]/g, 'x')}>`);
      },
    ]),
  );
}

export const batchDeletions = (): Texts => ({ ...PARSED, ...BUILT, ...ECHOED, ...mixed() });

/** Documents of at most 64 KiB, as settings of buckets may have. */
export const SETTINGS: Texts = {
  'a declaration': () => `<CORSConfiguration><!${fill('A', MANY)}></CORSConfiguration>`,
  '& in CDATA': () => `<CORSConfiguration><![CDATA[${fill('&', MANY)}]]></CORSConfiguration>`,
  attributes: () => `<CORSConfiguration${numbered(6_000, (n) => ` a${n}=""`)}/>`,
  'a method of control characters': () =>
    `<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>${fill('\u0001', MANY)}</AllowedMethod></CORSRule></CORSConfiguration>`,
  'stars in a pattern': () =>
    `<CORSConfiguration><CORSRule><AllowedOrigin>${fill('*', MANY)}</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>`,
};

/** Documents that end an upload in parts. */
export const PART_LISTS: Texts = {
  '10,000 parts with long ETags': () =>
    `<CompleteMultipartUpload>${`<Part><PartNumber>1</PartNumber><ETag>${'"'.repeat(330)}</ETag></Part>`.repeat(10_000)}</CompleteMultipartUpload>`,
  '400,000 parts': () => `<CompleteMultipartUpload>${'<Part/>'.repeat(400_000)}</CompleteMultipartUpload>`,
  'a number of 4 MiB of spaces': () =>
    `<CompleteMultipartUpload><Part><PartNumber>${fill(' ')}1x</PartNumber><ETag>e</ETag></Part></CompleteMultipartUpload>`,
  'an ETag of 4 MiB of quotes': () =>
    `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${fill('"')}x</ETag></Part></CompleteMultipartUpload>`,
  'an ETag of W/': () =>
    `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${fill('W/"')}x</ETag></Part></CompleteMultipartUpload>`,
};
