import { openapi } from '@stagi/contract/openapi.ts';

export const OPENAPI_FILE = 'packages/server/src/openapi.gen.json';

export const openapiText = () => `${JSON.stringify(openapi(), null, 2)}\n`;
