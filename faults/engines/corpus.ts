import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import {
  type Behaviour,
  DONE,
  drips,
  flood,
  floods,
  keepsOpen,
  OK,
  STREAM,
  says,
  sends,
  sse,
  write,
} from './hostile.ts';

/** How an answer ends: `end: <its text>`, `error: <message>` or `refused: <message>`; of a check: `ready` or the reason. */
export interface EngineCase {
  name: string;
  call: 'run' | 'check';
  behave: Behaviour;
  ends: RegExp;
  /** It ends by a timeout of minutes. */
  isSlow?: true;
  check?(events: readonly { type: string }[]): string | null;
}

const MORE = /^(error|refused): The engine answered with more than it should$/;
const BROKE_OFF = /^error: The answer broke off$/;
const NO_CHAT = /^error: The engine answered something that is no chat$/;
const NO_JSON = /^error: The engine answered something that is no JSON$/;
const NO_HTTP = /^refused: What the engine answers is not HTTP$/;
const NOT_ANSWERING = /^refused: The engine does not answer yet$/;

const run = (name: string, ends: RegExp, behave: Behaviour, more: Partial<EngineCase> = {}): EngineCase => ({
  name,
  call: 'run',
  ends,
  behave,
  ...more,
});
const check = (name: string, ends: RegExp, behave: Behaviour, more: Partial<EngineCase> = {}): EngineCase => ({
  name,
  call: 'check',
  ends,
  behave,
  ...more,
});

const answer = (...events: (string | Buffer)[]): Behaviour => sends(STREAM, ...events, DONE);
const chunked = (...parts: string[]): Behaviour => sends(`${OK}Transfer-Encoding: chunked\r\n\r\n`, ...parts);
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const usage = (prompt: unknown, completion: unknown): string =>
  sse({ choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion } });
const wholly = (body: string): Behaviour =>
  sends('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n', body);
const ANSI = '\u001b[2J\u001b[31mred\u001b]8;;http://evil.example\u0007';
const HTML = '<script>alert(1)</script><img src=x onerror=alert(1)>';

/** The last event has no such counts. */
const countsNothing: EngineCase['check'] = (events) => {
  const { promptTokens, answerTokens } = events.at(-1) as unknown as Record<string, unknown>;
  return promptTokens === null && answerTokens === null ? null : `counts ${promptTokens}, ${answerTokens}`;
};

const TEXTS: EngineCase[] = [
  run('an ordinary answer', /^end: Hello world$/, answer(says('Hello'), says(' world'))),
  run('control sequences of terminals', /^end: /, answer(says(ANSI)), { check: hasText(ANSI) }),
  run('HTML', /^end: <script>/, answer(says(HTML)), { check: hasText(HTML) }),
  run('NUL and other control characters', /^end: /, answer(says('a\u0000b\u0007')), {
    check: hasText('a\u0000b\u0007'),
  }),
  run('half a surrogate pair', /^end: /, answer('data: {"choices":[{"delta":{"content":"a\\ud800b"}}]}\n\n')),
  run('bytes that are no UTF-8', /^end: a.+b$/, answer(Buffer.from(says('a\u00ffb'), 'latin1'))),
  run('a character in two packets', /^end: 日$/, async (socket) => {
    const bytes = Buffer.from(says('日'));
    const at = bytes.indexOf(Buffer.from('日')) + 1;
    await write(socket, STREAM);
    await write(socket, bytes.subarray(0, at));
    await pause(20);
    await write(socket, bytes.subarray(at));
    socket.end(DONE);
  }),
  run('a text of 900 kB', /^end: x+$/, answer(says('x'.repeat(900_000)))),
  run('reasoning alone', /^end: thinking$/, answer(sse({ choices: [{ delta: { reasoning_content: 'thinking' } }] }))),
  run('a reason of 500 kB', /^end: $/, answer(sse({ choices: [{ finish_reason: 'r'.repeat(500_000) }] })), {
    check: (events) => {
      const { length } = (events.at(-1) as unknown as { reason: string }).reason;
      return length <= 100 ? null : `a reason of ${length} characters`;
    },
  }),
  run('a thousand choices', /^end: x{1000}$/, answer(sse({ choices: Array(1000).fill({ delta: { content: 'x' } }) }))),
  run('names of prototypes', /^end: x$/, answer('data: {"__proto__":{"choices":[]},"constructor":1}\n\n', says('x'))),
];

const COUNTS: EngineCase[] = [
  run('negative counts', /^end: x$/, answer(says('x'), usage(-1, -1e9)), { check: countsNothing }),
  run('enormous counts', /^end: x$/, answer(says('x'), usage(1e308, 9e15)), { check: countsNothing }),
  run('fractions of tokens', /^end: x$/, answer(says('x'), usage(0.5, 1.5)), { check: countsNothing }),
  run('counts that are texts', /^end: x$/, answer(says('x'), usage('1', {})), { check: countsNothing }),
  run('a use that is a list', /^end: x$/, answer(says('x'), sse({ choices: [], usage: [] })), { check: countsNothing }),
];

const EVENTS: EngineCase[] = [
  run('lines that are no events', /^end: x$/, answer('garbage\n:::\nfoo: bar\n\n\n', says('x'))),
  run('fields by the thousand', /^end: x$/, answer('id: 1\nretry: 99\nevent: x\n'.repeat(5000), '\n', says('x'))),
  run('a byte order mark', /^end: x$/, answer('\ufeff', says('x'))),
  run('lines that end with CR', /^end: x$/, answer(says('x').replaceAll('\n', '\r'))),
  run('data that is no JSON', NO_JSON, answer('data: {"choices": [\n\n')),
  run('a list instead of an object', NO_CHAT, answer('data: []\n\n')),
  run('choices that are no list', NO_CHAT, answer(sse({ choices: 'many' }))),
  run('a text that is a number', NO_CHAT, answer(says(42))),
  run('lists within lists', NO_JSON, answer(`data: ${'['.repeat(900_000)}\n\n`)),
  run(
    'objects within objects',
    NO_CHAT,
    answer(`data: ${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}\n\ndata: 1\n\n`),
  ),
  run('deep choices', NO_CHAT, answer(`data: {"choices":${'['.repeat(400_000)}${']'.repeat(400_000)}}\n\n`)),
  run(
    'an error as an event',
    /^error: The engine refused: out of memory$/,
    answer(says('a'), sse({ error: { message: 'out of memory' } })),
  ),
  run(
    'an error of 800 kB',
    /^error: The engine refused: e{500}$/,
    answer(sse({ error: { message: 'e'.repeat(800_000) } })),
  ),
  run('an event of 3 MB', MORE, answer(says('x'.repeat(3_000_000)))),
  run('no end mark', BROKE_OFF, sends(STREAM, says('x'))),
  run('half an event', BROKE_OFF, sends(STREAM, says('x'), 'data: {"choi')),
  ...(
    [
      ['an answer that is not streamed', /^end: x$/, { choices: [{ message: { content: 'x' } }] }],
      [
        'one with its reasoning',
        /^end: thinkingx$/,
        { choices: [{ message: { reasoning_content: 'thinking', content: 'x' } }] },
      ],
      ['one with an error', /^error: The engine refused: no such model$/, { error: { message: 'no such model' } }],
      ['one that is another object', NO_CHAT, { models: [] }],
      ['one that is a list', NO_CHAT, [1, 2]],
      ['one with choices that are no list', NO_CHAT, { choices: 'many' }],
      ['one of 300 kB', MORE, { choices: [{ message: { content: 'x'.repeat(300_000) } }] }],
    ] as const
  ).map(([name, ends, body]) => run(name, ends, wholly(JSON.stringify(body)))),
  run('one that is no JSON', NO_JSON, wholly('Bad gateway')),
  run('one that breaks off', NO_JSON, wholly('{"choices":[{"mess')),
  run('data without content', /^end: x$/, answer('data:\n\n', 'data: \n\n', says('x'), 'data\n\n')),
  run('comments that keep the connection open', /^end: x$/, answer(': ping\n\n', says('x'), ': ping\n\n')),
  run('a role alone', /^end: x$/, answer(sse({ choices: [{ delta: { role: 'assistant' } }] }), says('x'))),
  run(
    'a compressed answer',
    /^error: /,
    sends(`${OK}Content-Encoding: gzip\r\nConnection: close\r\n\r\n`, gzipSync(says('x') + DONE)),
  ),
  run('an end mark before more', /^end: x$/, floods(`${STREAM}${says('x')}${DONE}`, says('y'))),
  run('an end mark and an open connection', /^end: x$/, keepsOpen(`${OK}\r\n`, says('x'), DONE)),
];

const FLOODS: EngineCase[] = [
  run('a line without an end', MORE, floods(STREAM, 'x')),
  run('data without an end', MORE, floods(`${STREAM}data: `, 'x')),
  run('an event of endless lines', MORE, floods(STREAM, 'data: x\n')),
  run('comments for ever', MORE, floods(STREAM, ': still here\n\n')),
  run('empty lines for ever', MORE, floods(STREAM, '\n')),
  run('texts for ever', MORE, floods(STREAM, says('word '.repeat(200)))),
  run('tiny texts for ever', MORE, floods(STREAM, says('x'))),
  run('zeros, a gigabyte', MORE, async (socket) => {
    await write(socket, `${OK}Content-Length: 1000000000\r\n\r\n`);
    await flood(socket, Buffer.alloc(65_536), 1e9);
  }),
  run('a refusal of a gigabyte', MORE, floods('HTTP/1.1 500 No\r\nContent-Length: 1000000000\r\n\r\n', '<p>no</p>')),
  run(
    'gzip of zeros',
    /^error: /,
    sends(`${OK}Content-Encoding: gzip\r\nConnection: close\r\n\r\n`, gzipSync(Buffer.alloc(200e6))),
  ),
  check(
    'a gigabyte of health',
    /more than it should$/,
    floods('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n', 'ok '),
  ),
  check(
    'endless chunks of health',
    /more than it should$/,
    floods('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'),
  ),
];

const HTTP: EngineCase[] = [
  run('nonsense', NO_HTTP, sends('SSH-2.0-OpenSSH_9.6\r\n\r\n')),
  run('HTTP/0.9', NO_HTTP, sends('<html>hello</html>\n')),
  run('a TLS alert', NO_HTTP, sends(Buffer.from('15030100020228', 'hex'))),
  run('HTTP/1.0 without a length', /^end: x$/, sends('HTTP/1.0 200 OK\r\n\r\n', says('x'), DONE)),
  run('an answer of no bytes', BROKE_OFF, sends(`${OK}Content-Length: 0\r\n\r\n`)),
  run('a length that is too small', BROKE_OFF, sends(`${OK}Content-Length: 12\r\n\r\n`, says('x'), DONE)),
  run('a length that is too large', BROKE_OFF, sends(`${OK}Content-Length: 5000\r\n\r\n`, says('x'))),
  run('a negative length', NO_HTTP, sends(`${OK}Content-Length: -1\r\n\r\n`)),
  run('two lengths', NO_HTTP, sends(`${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`, says('x'))),
  run(
    'a length and chunks',
    NO_HTTP,
    sends(`${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, chunk(says('x'))),
  ),
  run('chunks', /^end: x$/, chunked(chunk(says('x')), chunk(DONE), '0\r\n\r\n')),
  run('chunks of nonsense', BROKE_OFF, chunked(chunk(says('x')), 'ZZZ\r\nhello\r\n')),
  run('a chunk of 2⁷⁰ bytes', BROKE_OFF, chunked(chunk(says('x')), `4${'0'.repeat(17)}\r\n`)),
  run('chunks without an end', BROKE_OFF, chunked(chunk(says('x')))),
  run('a chunk extension of 1 MB', /^(error|end): /, chunked(`1;${'x'.repeat(1_000_000)}\r\n\n\r\n`, chunk(DONE))),
  run('trailers of 1 MB', /^(error|end): /, chunked(chunk(says('x')), '0\r\n', `X: ${'y'.repeat(1_000_000)}\r\n\r\n`)),
  run('headers of 1 MB', NO_HTTP, sends(`${OK}X-Big: ${'x'.repeat(1_000_000)}\r\n\r\n`, DONE)),
  run(
    'ten thousand headers',
    NO_HTTP,
    sends(OK, Array.from({ length: 10_000 }, (_, n) => `X-${n}: y\r\n`).join(''), '\r\n'),
  ),
  run('headers for ever', NO_HTTP, floods(OK, 'X-More: and more\r\n')),
  run('a header with NUL', NO_HTTP, sends(`${OK}X-Nul: a\0b\r\n\r\n`)),
  run(
    'a line folded into the next',
    /^(end|refused): /,
    sends(`${OK}X-Fold: a\r\n b: c\r\nConnection: close\r\n\r\n`, says('x'), DONE),
  ),
  run('100 Continue for ever', NO_HTTP, floods('', 'HTTP/1.1 100 Continue\r\n\r\n')),
  run('102 Processing for ever', NO_HTTP, floods('', 'HTTP/1.1 102 Processing\r\n\r\n')),
  run(
    'three early hints',
    /^end: x$/,
    sends('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(3), STREAM, says('x'), DONE),
  ),
  run(
    'another protocol',
    /^refused: /,
    sends('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  ),
  run(
    'two answers',
    /^end: x$/,
    sends(
      `${OK}Content-Length: ${(says('x') + DONE).length}\r\n\r\n`,
      says('x') + DONE,
      `${STREAM}${says('y')}${DONE}`,
    ),
  ),
  run('a status of four digits', NO_HTTP, sends('HTTP/1.1 2000 OK\r\n\r\n')),
  run('no content', /^refused: The engine refused with 204$/, sends('HTTP/1.1 204 No Content\r\n\r\n')),
  run(
    'a page that is not there',
    /^refused: The engine refused with 404$/,
    sends('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n', HTML),
  ),
  run(
    'a refusal in its own words',
    /^refused: The engine refused: <b>no<\/b>$/,
    sends('HTTP/1.1 400 No\r\nConnection: close\r\n\r\n', JSON.stringify({ error: { message: '<b>no</b>' } })),
  ),
  run(
    'a refusal that breaks off',
    /^refused: The answer broke off$/,
    sends('HTTP/1.1 400 No\r\nContent-Length: 500\r\n\r\n', 'half'),
  ),
  run(
    'a refusal of deep JSON',
    /^refused: The engine refused with 400$/,
    sends('HTTP/1.1 400 No\r\nConnection: close\r\n\r\n', '{"error":'.repeat(20_000)),
  ),
  run('an early close', NOT_ANSWERING, (socket) => void socket.end()),
  run('an early reset', NOT_ANSWERING, (socket) => void socket.resetAndDestroy()),
  run('a reset in the middle', BROKE_OFF, async (socket) => {
    await write(socket, STREAM + says('x'));
    await pause(50);
    socket.resetAndDestroy();
  }),
];

const CHECKS: EngineCase[] = [
  check('an honest one', /^ready$/, sends('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')),
  check('an open connection', /^ready$/, keepsOpen('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')),
  check('deep JSON', /^ready$/, sends('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n', '['.repeat(200_000))),
  check('loading', /^The engine is loading its model$/, sends('HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n')),
  check('an error', /with 500$/, sends('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n')),
  check('nonsense', /^What the engine answers is not HTTP$/, sends('\0\0\0\0\r\n\r\n')),
  check('a body that breaks off', /^The answer broke off$/, sends('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nok')),
  check(
    'chunks of nonsense',
    /^The answer broke off$/,
    sends('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n'),
  ),
  check('a close', /^The engine does not answer yet$/, (socket) => void socket.end()),
  check('a reset', /^The engine does not answer yet$/, (socket) => void socket.resetAndDestroy()),
  check('headers of 1 MB', /not HTTP$/, sends(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1_000_000)}\r\n\r\n`)),
  check('100 Continue for ever', /not HTTP$/, floods('', 'HTTP/1.1 100 Continue\r\n\r\n')),
  check(
    'another protocol',
    /./,
    sends('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
  ),
  check('silence', /^The engine did not answer within 5 s$/, () => {}),
  check(
    'a body that drips',
    /^The engine did not answer within 5 s$/,
    drips('HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n', 'x', 200),
  ),
  check('headers that drip', /^The engine did not answer within 5 s$/, drips('HTTP/1.1 200 OK\r\n', 'X-A: b\r\n', 100)),
];

const SLOW: EngineCase[] = [
  run('silence', /^refused: The engine did not answer in time$/, () => {}, { isSlow: true }),
  run('headers that drip', /^refused: The engine did not answer in time$/, drips(OK, 'X-A: b\r\n', 1000), {
    isSlow: true,
  }),
  run(
    'a refusal that drips',
    /^refused: The engine did not answer in time$/,
    drips('HTTP/1.1 500 No\r\nContent-Length: 99999\r\n\r\n', 'no ', 1000),
    { isSlow: true },
  ),
  run('nothing after the head', /^error: The engine stopped answering$/, keepsOpen(STREAM), { isSlow: true }),
  run('comments that drip', /^error: The engine stopped answering$/, drips(STREAM, ': x\n', 500), { isSlow: true }),
  run('silence after a word', /^error: The engine stopped answering$/, keepsOpen(STREAM, says('x')), { isSlow: true }),
];

/** Redirects to `elsewhere`, which must not be asked. */
export const redirects = (elsewhere: string): EngineCase[] => [
  ...[301, 302, 303, 307, 308].map((status) =>
    run(
      `a redirect with ${status}`,
      new RegExp(`^refused: The engine refused with ${status}$`),
      sends(`HTTP/1.1 ${status} There\r\nLocation: ${elsewhere}\r\nContent-Length: 0\r\n\r\n`),
    ),
  ),
  check('a redirect', /with 302$/, sends(`HTTP/1.1 302 There\r\nLocation: ${elsewhere}\r\nContent-Length: 0\r\n\r\n`)),
  run(
    'an alternative service',
    /^end: x$/,
    sends(
      `${OK}Alt-Svc: h2="${elsewhere}"\r\nRefresh: 0; url=${elsewhere}\r\nConnection: close\r\n\r\n`,
      says('x'),
      DONE,
    ),
  ),
];

export const QUICK: readonly EngineCase[] = [...TEXTS, ...COUNTS, ...EVENTS, ...FLOODS, ...HTTP, ...CHECKS];
export const WITH_SLOW: readonly EngineCase[] = [...QUICK, ...SLOW];

/** Of the quick ones. */
export const oneThird = (seed: number): EngineCase[] => QUICK.filter((_, index) => (index + seed) % 3 === 0);

function hasText(text: string): EngineCase['check'] {
  return (events) => {
    const said = events.map((event) => ('text' in event ? event.text : '')).join('');
    return said === text ? null : `the text ${JSON.stringify(said).slice(0, 200)}`;
  };
}
