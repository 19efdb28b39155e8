import { BRAND } from '@stagi/contract/brand.ts';
import { type Language, LOCALE } from '@stagi/contract/languages.ts';
import { escapeHtml } from './html.ts';

export interface MailText {
  subject: string;
  text: string;
  html: string;
  /** One address, checked by `replyAddress`. */
  replyTo?: string;
}

/** A mail's parts: paragraphs, a code, a link, facts with their names, somebody's words as they wrote them. */
export type Part =
  | string
  | { quote: string }
  | { code: string }
  | { link: string; label: string }
  | { facts: readonly [string, string][] };

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif";

/** Renders a mail as HTML and as text. Tables and inline styles, as old mail programs need them. */
export function renderMail(language: Language, subject: string, parts: readonly Part[], footer: string): MailText {
  return {
    subject,
    text: `${parts.map(asText).join('\n\n')}\n\n-- \n${footer}\n`,
    html: `<!doctype html>
<html lang="${LOCALE[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>
:root{color-scheme:light dark}
@media (prefers-color-scheme:dark){
.page{background:#101218!important}.card{background:#181b23!important;border-color:#2b303c!important}
.ink{color:#eceef3!important}.soft{color:#a3aab8!important}.code{background:#232733!important}
.button{background:#eceef3!important;color:#101218!important}}
@media (max-width:480px){.inside{padding:24px 20px!important}.code{font-size:26px!important;letter-spacing:4px!important}}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f4f7">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f3f4f7"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px">
<tr><td class="ink" style="padding:0 4px 16px;${FONT};font-size:18px;line-height:24px;font-weight:700;color:#1c1e26">${BRAND}</td></tr>
<tr><td class="card inside" style="padding:32px;background:#ffffff;border:1px solid #dfe2e8;border-radius:8px">
${parts.map(asHtml).join('\n')}
</td></tr>
<tr><td class="soft" style="padding:16px 4px 0;${FONT};font-size:13px;line-height:20px;color:#5b6270">${escapeHtml(footer)}</td></tr>
</table>
</td></tr></table>
</body>
</html>`,
  };
}

function asText(part: Part): string {
  if (typeof part === 'string') return part;
  if ('code' in part) return `    ${part.code}`;
  // No line of it can be taken for one of the mail.
  if ('quote' in part) return part.quote.replace(/^/gm, '> ');
  if ('facts' in part) return part.facts.map(([name, value]) => `${name}: ${value}`).join('\n');
  return `${part.label}: ${part.link}`;
}

function asHtml(part: Part): string {
  if (typeof part === 'string') return `<p class="ink" style="${PARAGRAPH}">${escapeHtml(part)}</p>`;
  if ('code' in part) {
    return `<p class="ink code" style="margin:0 0 16px;padding:16px 8px;border-radius:6px;background:#f3f4f7;text-align:center;font:600 30px/36px ui-monospace,'SFMono-Regular',Menlo,Consolas,monospace;letter-spacing:6px;color:#1c1e26">${escapeHtml(part.code)}</p>`;
  }
  if ('quote' in part)
    return `<p class="ink" style="${PARAGRAPH};white-space:pre-wrap;unicode-bidi:plaintext">${escapeHtml(part.quote)}</p>`;
  if ('facts' in part) {
    const rows = part.facts.map(
      ([name, value]) =>
        `<tr><td class="soft" valign="top" style="padding:2px 16px 2px 0;${FONT};font-size:14px;line-height:20px;color:#5b6270">${escapeHtml(name)}</td><td class="ink" valign="top" style="padding:2px 0;${FONT};font-size:14px;line-height:20px;color:#1c1e26;word-break:break-word">${escapeHtml(value)}</td></tr>`,
    );
    return `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px">${rows.join('')}</table>`;
  }
  return `<p style="margin:0 0 16px"><a class="button" href="${escapeHtml(part.link)}" style="display:inline-block;padding:10px 20px;border-radius:6px;background:#1c1e26;color:#ffffff;${FONT};font-size:15px;line-height:24px;font-weight:600;text-decoration:none">${escapeHtml(part.label)}</a></p>`;
}

const PARAGRAPH = `margin:0 0 16px;${FONT};font-size:16px;line-height:24px;color:#1c1e26;overflow-wrap:anywhere`;
