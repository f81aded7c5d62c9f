/** The page's content security policy: nothing from other hosts, and only the scripts named here. */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The reference page. Its URLs are relative, so that it also works below a path prefix of a proxy.
 *
 * @param version of the files: part of their URLs, so that they can be cached for ever
 */
export function referencePage(version: string): string {
  const file = (name: string): string => `docs/assets/${version}/${name}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Posthorn: API reference</title>
<link rel="icon" type="image/svg+xml" href="${file('posthorn.svg')}">
<link rel="stylesheet" href="${file('swagger-ui.css')}">
<link rel="stylesheet" href="${file('posthorn.css')}">
<script src="${file('swagger-ui-bundle.js')}" defer></script>
<script src="${file('posthorn.js')}" defer></script>
</head>
<body>
<header><strong>Posthorn</strong> <span>API reference</span> <a href="openapi.json">openapi.json</a> <a href="docs/errors">errors</a></header>
<div id="reference"><main><p>The reference needs JavaScript; <a href="openapi.json">openapi.json</a> holds the same.</p></main></div>
</body>
</html>
`;
}

export const REFERENCE_STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; background: light-dark(#fff, #1c2022); color: light-dark(#1b1f27, #e4e6e6); font: 16px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; max-width: 1460px; margin: 0 auto; padding: 1rem 20px 0; box-sizing: border-box; }
header strong { font-size: 1.25rem; }
header span { margin-right: auto; }
header a { color: light-dark(#a3460c, #f0a060); }
main > p { padding: 0 20px; }
/* Swagger UI's own colours are too pale on white, and some are too dark in its dark mode. */
.swagger-ui .info a { color: light-dark(#a3460c, #f0a060); }
html:not(.dark-mode) .swagger-ui :is(.opblock-summary-method, .info .title small pre) { color: #000; text-shadow: none; }
html:not(.dark-mode) .swagger-ui .btn.authorize span { color: #00633a; }
.swagger-ui .parameter__in { color: inherit; }
.dark-mode .swagger-ui :is(table.headers .header-col, .examples-select__section-label) { color: #e4e6e6; }
/* No answer has links, and a telephone has no room for an empty column. */
.swagger-ui .response-col_links { display: none; }
`;

export const REFERENCE_ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#a3460c"/><path d="M3 5h10v7H3zl5 4 5-4" fill="none" stroke="#fff" stroke-width="1.2"/></svg>\n';

/** Runs in the browser. */
export const REFERENCE_SCRIPT = `
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
follow();
dark.addEventListener('change', follow);
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  validatorUrl: null,
  onComplete: () => document.getElementById('servers')?.setAttribute('aria-label', 'Server'),
});
`;
