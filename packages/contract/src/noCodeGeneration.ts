import { z } from 'zod';

// The page's content security policy forbids code made from text. The library would try that at its first schema, and
// the browser would report a violation. Imported before any schema.
if ('document' in globalThis) z.config({ jitless: true });
