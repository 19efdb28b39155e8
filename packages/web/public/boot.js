// Runs before the first paint and before the app's code.
(() => {
  var root = document.documentElement;
  function stored(key) {
    try {
      return localStorage.getItem(key);
    } catch (_blocked) {
      // Storage can be switched off.
      return null;
    }
  }
  // The theme is set before the first paint, so that nothing flashes.
  var theme = stored('theme');
  var dark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');

  // A prerendered page is for visitors without a session, in the language of the address or the browser. Others do not
  // see it.
  var language = new URLSearchParams(location.search).get('lang') || stored('language');
  if (stored('refreshToken') || (language && root.dataset.prerendered && language !== root.dataset.prerendered))
    root.setAttribute('data-hide-prerendered', '');
  if (stored('refreshToken')) preload(root.dataset.signedInCode);

  // Google returns an id token in the address. It leaves the address before other code runs and before the browser's
  // history keeps it; /auth/google reads it from this tab's storage.
  if (location.pathname === '/sign-in' && /(^#|&)(id_token|error)=/.test(location.hash)) {
    try {
      sessionStorage.setItem('googleReturn', location.hash.slice(1));
    } catch (_blocked) {
      // Without storage /auth/google says that nothing came back.
    }
    history.replaceState(null, '', '/auth/google');
    root.removeAttribute('data-prerendered');
    root.setAttribute('data-hide-prerendered', '');
  }

  // The code of a prerendered page is loaded after the first paint, so that it takes no bandwidth or processor from it.
  // It is loaded at once where the markup is hidden, or in a background tab, where nothing is painted. A browser that
  // reports no paint loads it after the load event.
  var isStarted = false;
  if (root.dataset.code) {
    if (root.hasAttribute('data-hide-prerendered') || document.hidden) startCode();
    else {
      addEventListener('load', () => requestAnimationFrame(() => setTimeout(startCode)), { once: true });
      new PerformanceObserver((entries) => {
        if (entries.getEntriesByName('first-contentful-paint').length > 0) startCode();
      }).observe({ type: 'paint', buffered: true });
    }
  }

  function startCode() {
    if (isStarted) return;
    isStarted = true;
    // Each request in a task of its own: to start them takes a slow phone long.
    for (const file of root.dataset.code.split(' ')) setTimeout(preload, 0, file);
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', runCode, { once: true });
    else runCode();
  }

  function runCode() {
    const script = document.createElement('script');
    script.type = 'module';
    script.crossOrigin = '';
    script.src = `/${root.dataset.code.split(' ')[0]}`;
    document.head.append(script);
  }

  function preload(files) {
    for (const file of files?.split(' ') ?? []) {
      const link = document.createElement('link');
      link.rel = 'modulepreload';
      link.crossOrigin = '';
      link.href = `/${file}`;
      document.head.append(link);
    }
  }

  // A native submit would put the password into the address.
  addEventListener(
    'submit',
    (event) => {
      if (!root.hasAttribute('data-ready')) event.preventDefault();
    },
    true,
  );
})();

// A page whose code fails to load would stay blank or dead. A change of network (VPN, Wi-Fi) aborts requests. The page
// reloads a few times with growing delays, then says so.
(() => {
  var MAX_RELOADS = 3;
  var WORDS = {
    en: ['Stagi could not be loaded', 'Try again'],
    zh: ['无法加载 Stagi', '重试'],
    ru: ['Не удалось загрузить Stagi', 'Попробовать снова'],
    tr: ['Stagi yüklenemedi', 'Yeniden dene'],
  };
  var failed = false;

  // Errors of elements do not bubble. A failed top-level await of a module is an unhandled rejection.
  addEventListener('error', onLoadError, true);
  addEventListener('unhandledrejection', onLoadError);

  function onLoadError(event) {
    if (failed || document.documentElement.dataset.started !== undefined) return;
    if (event.target instanceof HTMLImageElement) return;
    failed = true;
    var tries = Number(sessionStorage.getItem('bootTries') || 0);
    sessionStorage.setItem('bootTries', String(tries + 1));
    if (!navigator.onLine) addEventListener('online', () => location.reload(), { once: true });
    else if (tries < MAX_RELOADS) {
      const timer = setTimeout(() => location.reload(), 500 * 2 ** tries);
      // A link that is followed meanwhile loads a page anyway.
      addEventListener('beforeunload', () => clearTimeout(timer));
    } else if (document.readyState === 'complete') showFailure();
    else addEventListener('load', showFailure, { once: true });
  }

  function showFailure() {
    var language = (localStorage.getItem('language') || navigator.language).slice(0, 2).replace('cn', 'zh');
    var words = WORDS[language] || WORDS.en;
    var box = document.createElement('div');
    box.setAttribute('role', 'alert');
    box.style.cssText = 'padding:96px 24px;text-align:center;font:16px system-ui';
    var button = document.createElement('button');
    button.textContent = words[1];
    button.style.font = 'inherit';
    button.onclick = () => {
      sessionStorage.removeItem('bootTries');
      location.reload();
    };
    var sentence = document.createElement('p');
    sentence.textContent = words[0];
    box.append(sentence, button);
    document.body.prepend(box);
  }
})();
