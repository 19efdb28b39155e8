import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPENAPI_FILE, openapiText } from './openapi.ts';
import { ROOT } from './run.ts';

writeFileSync(join(ROOT, OPENAPI_FILE), openapiText());
console.log(`wrote ${OPENAPI_FILE}`);
