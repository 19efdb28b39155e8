interface Message {
  name: string;
  email: string;
  company?: string;
  message: string;
  /** The field that people do not see. */
  website?: string;
}

/** People who ask for something name a few pages; advertising names many. */
const LINKS_MAX = 10;
const LINK = /https?:\/\/|www\./gi;

/** Tags of HTML and BBCode that place an image or code. People who quote code write others. */
const MARKUP =
  /<\s?\/?\s?(img|script|iframe|object|embed|form|meta|link|style|svg|marquee|center|font|h[1-6]|html|body)\b|\[\/?(url|link|img|email|size|color)\b/i;

/** Lines of a mail or of its transport that nobody quotes to ask something. */
const MAIL_LINES =
  /^\s?(b?cc|reply-to|return-path|content-type|content-transfer-encoding|mime-version|x-[\w-]+|mail from|rcpt to|helo|ehlo)\s?:/im;
/** A line break that is written out, and a header after it. */
const ESCAPED_HEADER = /(%0a|%0d|\\n|\\r|&#1[03];)\s*[\w-]+\s*:/i;
const ENCODED_WORD = /=\?[\w-]+\?[bq]\?[^?]*\?=/i;

/** Words of advertising, by subject. A message about one of them needs two signs, as a customer may use one. */
const ADVERTISING: readonly RegExp[] = [
  /\b(seo|backlinks?|guest post(s|ing)?|domain authority|link ?building|first page of google|page one of google|rank(ing)? (your|higher)|search engine ranking)\b/i,
  /\b(casino|betting|jackpot|slots?|poker|free spins?|bonus code)\b|казино|ставки|赌场|博彩|彩票|bahis|kumarhane/i,
  /\b(viagra|cialis|pharmacy|weight loss|keto|cbd|pills?)\b|виагра|减肥/i,
  /\b(crypto(currency)?|bitcoin|btc|forex|trading signals?|airdrop|seed phrase|guaranteed (profit|returns?|income))\b|заработок|инвестиции|比特币/i,
  /\b(loans?|funding|business capital|credit score|inheritance|next of kin|beneficiary|wire transfer|lottery|million (us )?dollars|usd? ?\d+ ?million)\b|кредит|贷款|发票|kredi/i,
  /\b(followers|likes|views|web ?traffic|visitors to your (web)?site|email (list|database|leads)|mass mail(ing)?|leads? generation|contact forms? (submissions?|marketing|blasts?))\b|рассылк|раскрутк|продвижени|推广|takipçi/i,
  /\b(web ?site (re)?design|redesign your (web)?site|mobile app development|explainer video|wordpress|shopify store|logo design)\b/i,
  /\b(dating|hot (girls|singles)|escort|adult|webcam|nudes?)\b|знакомств|интим|约炮|escort/i,
  /\b(whatsapp|telegram|skype|wechat|t\.me|wa\.me|bit\.ly|tinyurl)\b|微信|ватсап|телеграм/i,
  /\b(unsubscribe|opt[ -]?out|limited (time )?offer|act now|click (here|below|the link)|risk[ -]free|100% free|money[ -]back|no obligation|special (price|offer)|discount|cheap(est)?|buy now|order now)\b|отписаться|скидк|нажмите|点击|优惠|tıklayın|indirim/i,
  /\b(dear (sir|madam|webmaster|site owner|friend|beloved)|i (came across|visited|was on|found) your (web)?site|your (web)?site (is|has|looks|could))\b/i,
  /\$ ?\d{2}|\d ?% (off|discount|profit|daily)|(\+\d[\d ()-]{8,})/i,
];
const ADVERTISING_SIGNS = 2;

/**
 * Whether a message was filled in by a program, or is advertising. It is then stored and marked, and not mailed: a wrong
 * guess costs the operator a look at the list.
 */
export function looksAutomated({ name, email, company = '', message, website }: Message): boolean {
  // Runs of spaces are one, so that the expressions below need none that repeat: a message made for it would hold them up.
  const all = `${name}\n${company}\n${message}`.replace(/\s+/g, (run) => (run.includes('\n') ? '\n' : ' '));
  return (
    Boolean(website) ||
    (all.match(LINK)?.length ?? 0) > LINKS_MAX ||
    /https?:\/\/|www\.|@/i.test(`${name} ${company}`) ||
    MARKUP.test(all) ||
    hasLink(all) ||
    MAIL_LINES.test(all) ||
    ESCAPED_HEADER.test(all) ||
    ENCODED_WORD.test(`${name} ${email}`) ||
    isNoText(message) ||
    isOneWordForAll([name, company, message]) ||
    ADVERTISING.filter((sign) => sign.test(all)).length >= ADVERTISING_SIGNS
  );
}

/** A tag of HTML that places a link: `<a`, and `href` before the next `>`. */
function hasLink(text: string): boolean {
  return text.split('>').some((part) => {
    const start = part.search(/<\s?\/?\s?a\s/i);
    return start >= 0 && /href\b/i.test(part.slice(start));
  });
}

/** No words: only signs or a link, the same letter many times, or letters without a gap. */
function isNoText(message: string): boolean {
  const words = message.replace(/https?:\/\/\S+|www\.\S+/gi, ' ').match(/\p{L}{2,}|[\p{sc=Han}]/gu);
  return words === null || /(\p{L})\1{9}/u.test(message) || /[a-z]{40}/i.test(message);
}

/** Programs that fill in every field repeat themselves. */
function isOneWordForAll(fields: readonly string[]): boolean {
  const filled = fields.map((field) => field.trim().toLowerCase()).filter(Boolean);
  return filled.length > 1 && new Set(filled).size === 1;
}
