import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './run.ts';

/** What the product's own code must not contain; `except` names the files that may, which are tested for it. */
const BANS: { why: string; pattern: RegExp; except?: RegExp }[] = [
  { why: 'code made of text', pattern: /\beval\(|\bnew Function\(|\bsetTimeout\(\s*['"`]|node:vm\b/ },
  {
    why: 'markup made of text',
    pattern: /\binnerHTML\b|\bouterHTML\b|insertAdjacentHTML|document\.write\(|dangerouslySetInnerHTML|\bsrcdoc\b/i,
  },
  { why: 'a shell', pattern: /\bexec\(\s*['"`]|\bexecSync\(|shell:\s*true/ },
  {
    why: 'a weak hash',
    pattern: /createHash\(\s*['"](?!sha256|sha512)|createHmac\(\s*['"](?!sha256|sha512)/,
    // ETags of S3 are MD5 hashes.
    except: /s3\/src\/etag\.ts$/,
  },
  { why: 'a cipher without proof of its text', pattern: /create(?:De|C)ipheriv\(\s*['"](?!aes-256-gcm)/ },
  { why: 'chance that can be guessed', pattern: /Math\.random\(\).{0,40}(?:token|code|secret|key|nonce|ticket)/i },
  {
    why: 'XML',
    pattern: /from '(?:xml2js|fast-xml-parser|libxmljs2?|sax|xmldom|@xmldom\/xmldom)'|DOMParser\(/,
    // The S3 API speaks XML; document types, and so entities, are refused before it is parsed.
    except: /s3\/src\/xml\.ts$/,
  },
  {
    why: 'an open door for other sites',
    pattern: /@fastify\/cors|access-control-allow-origin/i,
    // What browser apps send there proves itself by what it holds, never by a cookie.
    except: /server\/src\/apps\/cors\.ts$|s3\/src\/cors\.ts$/,
  },
  {
    why: 'an id that plain http has not',
    pattern: /\bcrypto\.randomUUID\b/,
    except: /server\/src|daemon\/src|randomId\.ts$/,
  },
  // The types keep numbers out of money (`Micro`); this is the one way around them.
  {
    why: 'a float on its way to money',
    pattern: /\b(?:BigInt|asMicro)\([^)]*(?:Math\.|parseFloat|Number\(|\*\s*1e\d)/,
  },
  {
    why: 'a way around the policies of the database: calls use the handle that they are given',
    pattern: /\b(?:ctx|context|app\.ctx)\.(?:pg|callsPg|within)\b/,
    except:
      /server\/src\/(?:app\/crossWorkspaceCalls|logging\/tail|sessions\/authenticate|terminals\/(?:serve|stream)|volumeFiles\/ticket|metrics\/metricsServer|reconcile\/workerRegistry)\.ts$/,
  },
  { why: 'TLS that trusts anybody', pattern: /rejectUnauthorized:\s*false|NODE_TLS_REJECT_UNAUTHORIZED/ },
];

const isProduct = (path: string): boolean =>
  /^packages\/[^/]+\/(?:src|public)\/.*\.(?:ts|tsx|js|mjs|sh)$/.test(path) && !/\.test\.tsx?$|\/testing\//.test(path);

it('the product’s code holds none of the constructs that open holes', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(isProduct);
  const found: string[] = [];
  for (const file of files) {
    const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
    for (const { why, pattern, except } of BANS)
      for (const [index, line] of lines.entries())
        if (pattern.test(line) && !except?.test(file)) found.push(`${file}:${index + 1} ${why}: ${line.trim()}`);
  }
  console.log(`bans: n = ${BANS.length} over ${files.length} files`);
  expect(files.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});
