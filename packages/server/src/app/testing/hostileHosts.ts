/** Names of an attacker, and spellings that are no name of the platform. PORT stands for the port of the listener. */
export const NAMES = [
  ...['evil.example', 'evil.example:PORT', 'EVIL.example', 'evil.example.', 'localtest.me:PORT', '127.0.0.1.nip.io'],
  ...['localhost.evil.example', '127.0.0.1.evil.example', 'evil-localhost', 'evillocalhost:PORT', 'localhost-evil'],
  ...['localhost.', 'localhost.:PORT', '127.0.0.1.', '127.0.0.1x', 'localhost:PORT.evil.example', 'localhost:1:PORT'],
  ...['localhost@evil.example', 'evil.example@localhost', 'localhost:PORT@evil.example', 'a:b@127.0.0.1:PORT'],
  ...['localhost, evil.example', 'evil.example, localhost', 'localhost,localhost', 'evil;localhost', '"localhost"'],
  ...['localhost evil.example', 'evil.example localhost', 'localhost\tevil.example', 'evil.example\tlocalhost:PORT'],
  ...['localhost/', 'localhost#', 'localhost?', 'localhost\\@evil.example', 'http://localhost:PORT', 'evil/localhost'],
  ...[
    'localhost%00.evil.example',
    'loc%61lhost',
    '\uff4cocalhost',
    '\u24dbocalhost',
    '*',
    'localhost.example',
    'null',
    '-1',
    '_',
  ],
  ...['0', '127.1', '127.0.1', '127.000.000.001', '0177.0.0.1', '0x7f.0.0.1', '0x7f000001', '2130706433', '[::g]'],
  ...['::1', '[::1', '[localhost]', '[127.0.0.1]:PORT/', 'localhost:x', 'localhost:-1', 'localhost:123456'],
];
/** Addresses in full: no other name can be in their place, and metrics are scraped by them. */
export const ADDRESSES = [
  ...['0.0.0.0', '0.0.0.0:PORT', '127.0.0.2', '169.254.169.254', '[::]', '[0:0:0:0:0:0:0:1]:PORT'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]:PORT', '::1:PORT'],
];
export const OWN = ['localhost', 'localhost:PORT', 'LocalHost:PORT', '127.0.0.1:PORT', '[::1]:PORT', 'localhost:1'];

export const EVERYTHING = [...NAMES, ...ADDRESSES];

/** Hosts that look like this one. */
export const near = (name: string): string[] => [
  ...[`${name}.evil.example:PORT`, `${name}.:PORT`, `${name}:PORT.evil.example`, `evil@${name}`, `${name}, evil`],
  ...[`${name} :PORT`, `${name.replace('.', '-')}:PORT`, `${name}:0PORT`, `${name}:PORT:1`, `http://${name}`],
];

const EVIL = 'Host: evil.example';
const TO_PROXIES = ['X-Forwarded-Host: ', 'X-Host: ', 'X-Original-Host: ', 'X-Forwarded-Server: ', 'Forwarded: host='];
export const FORWARDED = TO_PROXIES.map((name) => `${name}localhost:PORT`);

/** Requests that could be read in two ways: without a name, or with another than the platform's. */
export const SHAPES: readonly (readonly string[])[] = [
  ['METHOD PATH HTTP/1.0'],
  ['METHOD http://localhost:PORTPATH HTTP/1.0'],
  ['METHOD PATH HTTP/1.1'],
  ['METHOD PATH HTTP/1.1', 'Host:'],
  ['METHOD PATH HTTP/1.1', EVIL, 'Host: localhost:PORT'],
  ['METHOD http://localhost:PORTPATH HTTP/1.1', EVIL],
  ['METHOD PATH HTTP/1.1', ':authority: localhost:PORT', EVIL],
  ['PRI * HTTP/2.0'],
  ['METHOD PATH HTTP/1.1', EVIL, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
  ['METHOD PATH HTTP/1.1', 'Host : localhost:PORT'],
  ['METHOD PATH HTTP/1.1', EVIL, ' localhost:PORT'],
  ['METHOD PATH HTTP/1.1', `${EVIL}\nHost: localhost:PORT`],
  ['METHOD PATH HTTP/1.1', 'Host: localhost\0.evil.example'],
  ['METHOD PATH HTTP/1.1', EVIL, ...FORWARDED],
  ['METHOD PATH HTTP/1.1', EVIL, 'X-Forwarded-For: 127.0.0.1', 'X-Real-IP: 127.0.0.1', 'Via: 1.1 localhost'],
  ['METHOD PATH HTTP/1.1', EVIL, 'Origin: http://localhost:PORT', 'Sec-Fetch-Site: same-origin'],
];
