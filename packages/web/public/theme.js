// Before the first paint: the remembered theme, else the system's, so that nothing flashes.
(() => {
  var stored = null;
  try {
    stored = localStorage.getItem('theme');
  } catch (_blocked) {
    // Storage can be switched off; the system's theme it is then.
  }
  var dark = stored === 'dark' || (stored !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
