import { replaceStorage } from './demo/browserStorage.ts';

// The entry of /stagi-demo. What the app keeps in the browser is replaced before any code of the app can read it.
// Set by boot.js for who is signed in, who would not see this page either.
delete document.documentElement.dataset.hidePrerendered;
replaceStorage({ accessToken: 'demo', refreshToken: 'demo', hasVisited: 'visited' });
await import('./demoApp.tsx').then(({ showDemo }) => showDemo());
