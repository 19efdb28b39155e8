import type { Page } from '@playwright/test';
import { models } from '@stagi/perf/catalogueFiles.ts';
import { CLOSE, OPEN } from './pseudoLanguage.ts';
import { USUAL_NAMES } from './seededPlatform.ts';

/** Some begin like others. */
const inWords = (names: readonly string[]): RegExp =>
  new RegExp(
    names
      .toSorted((a, b) => b.length - a.length)
      .map((name) => name.replace(/[.()]/g, '\\$&'))
      .join('|'),
  );

/** Words that stay as they are in every language: names of people, machines, software and keys, units, example commands. */
const DATA = new RegExp(
  [
    ...calendarNames('tr'),
    inWords([...Object.values(USUAL_NAMES), 'Olga', 'Robin', 'ROBIN', 'Dunlin']),
    /\b(?:(?:Modified )?MIT|Apache 2\.0|CC BY-NC 4\.0|NVIDIA Open Model|FLUX\.\d dev Non-Commercial|OpenRAIL-M)\b|\b\d+(?:[.,]\d+)?[KMBT]\b/,
    inWords([...new Set(models.flatMap(({ id, name, publisher }) => [id, name, publisher]))]),
    /DD\/MM\/YYYY|\bEsc\b|\btraining\b|\blaptop\b|\bCPU\b|SHA256:\S+|ssh-ed25519 AAAA… you@|\bNAME\b|(?:\/srv)?\/models|\/srv\/stagi|\/etc\/stagi\/policy\.json/,
    /’s workspace|(?:ada|olga|robin)@example\.com|\btrainer(?:-2)?\b|\blab-3\b/,
    /Simulated (?:cloud|CPU|[A-Z]\d+)|eu-sim-\d|fake:sim-[\w-]+/,
    /Stagi|STAGI|curl(?! -f)|Python|NVIDIA|Ubuntu|vLLM|Ollama|Docker|SGLang|Git|HTTPS?|SSH|README(?:\.md)?|Ctrl|English|简体中文|Русский|Türkçe/,
    /\b[KGT]B\b|\bRTX \d+\b/,
    /winter-data|\blog-[\w-]+|\blogs\b|\blocal\b|AWS CLI|rclone|boto3|s3cmd|restic|s3fs|JavaScript|STG[A-Z2-7]+/,
    /pip install -r requirements\.txt && python train\.py --data \$STAGI_INPUT_PATH|(?:data|datasets)\/|\/(?:workspace|input|output)\b|\bUTC\b/,
    /curl -f localhost:8000|\btask-\d+(?:-\d+)?\b|\brun-\d+|\bSEED\b|Europe\/Berlin/,
    /Llama 3\.1(?: 8B Instruct)?|\bMeta\b|meta-llama\/[\w.-]+|\b(?:nvfp4|fp8|bf16|XL|MB)\b/,
    /(?:GeForce RTX|Instinct|\b[ABHL]\d+S?\b)(?: \d+\b| [A-Z]+\d*X?\b| PCIe| \d+GB)*/,
    /\bhttps?:\/\/[\w.]+:\d+|\b[\w-]+\/[\w-]+:v[\d.]+|--[a-z-]+ (?:\d+)?/,
    /stg_\d+_\w*…|\bmain\b|simulated SSD|us-sim-\d|\bweb\b|nginx:1\.29|ubuntu:24\.04|python:3\.14-slim|python -u train\.py --epochs 10/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Visible words, and words for screen readers, that are not of the pseudo-language and no names. */
export async function findUntranslated(page: Page): Promise<string[]> {
  const words = await page.evaluate(() => {
    // Texts of people, such as the documentation, are written in each language; breadcrumbs and tab repeat their title.
    const WRITTEN = '[data-written], [data-written] *';
    const title = document.querySelector('[data-written] h1')?.textContent;
    const said: string[] = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!element || element.closest('script, style, noscript, [translate="no"], .mono, code, pre, [data-written]'))
        continue;
      // A word for screen readers alone is a word all the same.
      if (element.checkVisibility({ visibilityProperty: true })) said.push(node.textContent ?? '');
    }
    for (const name of ['aria-label', 'aria-description', 'aria-valuetext', 'title', 'alt', 'placeholder'])
      for (const element of document.body.querySelectorAll(
        `[${name}]:not([aria-hidden="true"], [translate="no"], ${WRITTEN})`,
      ))
        said.push(element.getAttribute(name) ?? '');
    return title ? said.filter((words) => !words.includes(title)) : said;
  });
  const outside = words.map((text) => withoutPseudo(text).replace(DATA, '').trim());
  const english = new Set(outside.filter((text) => /\p{L}{2,}/u.test(text)));
  return [...english].map((text) => `not translated: ${text}`);
}

/** Leaves only the text outside the marks, which nest: a value may be a text itself. */
function withoutPseudo(text: string): string {
  let depth = 0;
  let left = '';
  for (const sign of text) {
    if (sign === OPEN) depth += 1;
    else if (sign === CLOSE) depth -= 1;
    else if (depth === 0) left += sign;
  }
  return left;
}

/** Names of days and months are the browser's own. */
function calendarNames(locale: string): RegExp[] {
  const names = (count: number, options: Intl.DateTimeFormatOptions) =>
    Array.from({ length: count }, (_, at) =>
      new Intl.DateTimeFormat(locale, options).format(new Date(2026, count === 12 ? at : 0, count === 12 ? 1 : at + 1)),
    );
  const all = [
    ...names(7, { weekday: 'long' }),
    ...names(7, { weekday: 'short' }),
    ...names(12, { month: 'long' }),
    ...names(12, { month: 'short' }),
  ];
  return [new RegExp(all.sort((a, b) => b.length - a.length).join('|'))];
}
