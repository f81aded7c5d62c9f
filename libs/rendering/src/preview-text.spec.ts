import { describe, expect, it } from '@jest/globals';
import { withPreviewText } from './preview-text.ts';

/** The index in `html` where the pre-header was inserted. */
const placeIn = (html: string): string => withPreviewText(html, 'Hi').split('<div style="display:none')[0]!;

describe('S15: withPreviewText', () => {
  it('inserts the escaped text, hidden, at the start of the body, padded to the length that inboxes show', () => {
    const html = withPreviewText('<body><p>Body</p></body>', `<b>"Tom" & 'Jo'</b>`);
    expect(html).toMatch(
      /^<body><div style="display:none;[^"]*">&lt;b&gt;&quot;Tom&quot; &amp; &#39;Jo&#39;&lt;\/b&gt;(&#847;&zwnj;&nbsp;)+<\/div><p>Body<\/p><\/body>$/,
    );
    expect(html.match(/&#847;&zwnj;&nbsp;/g)).toHaveLength(200 - `<b>"Tom" & 'Jo'</b>`.length);
  });

  it('has no tiny or transparent font, for which SpamAssassin has rules (FONT_INVIS)', () => {
    expect(withPreviewText('<p>Body</p>', 'Hi')).not.toMatch(/font|color/);
  });

  it('changes nothing for a blank text', () => {
    expect(withPreviewText('<p>Body</p>', '')).toBe('<p>Body</p>');
    expect(withPreviewText('<p>Body</p>', ' \n')).toBe('<p>Body</p>');
  });

  it('does not pad a text of that length', () => {
    expect(withPreviewText('<p>Body</p>', 'x'.repeat(1_000))).not.toContain('&nbsp;');
  });

  it.each([
    ['<BODY class="a>b" data-x=\'>\'>', 'whose attributes hold ">"'],
    ['<!doctype html><html><head><title><body></title></head><body>', 'behind a title that speaks of one'],
    ['<!-- <body> --><body>', 'behind a comment that holds one'],
    ['<!--[if mso]><body class="mso"><![endif]--><!--[if !mso]><!--><body>', 'behind conditional comments'],
    ['<!--><body>', 'behind an empty comment'],
    ['<style>a{content:"<body>"}</style><script>"<body>"</script><body>', 'behind styles and scripts'],
    ["<meta don't><body\n>", 'behind a stray quote'],
    ['<!-- x --!><!doctype html><!-- <p> --!><body>', 'behind comments that end with --!>'],
    ['<?xml version="1.0"?><html></p></title><title>x</title><body>', 'behind what means nothing there'],
    [
      '<head><template><p>x</p></template><noscript><style>p{}</style></noscript></head><body>',
      'behind what is not seen',
    ],
    ['\ufeff\n<title/><body></title/><body>', 'behind tags with a slash that means nothing'],
  ])('finds the body in %s, %s', (before) => {
    expect(placeIn(`${before}<p>Body</p>`)).toBe(before);
  });

  it.each([
    '',
    '<!DOCTYPE html>',
    '<!doctype html><html lang="en">',
    '<html><head><style>p{}</style></head>',
    '<!-- x --!><!doctype html>',
  ])(
    'inserts after %j where there is no body tag, so that the document keeps its rendering mode',
    (before) => {
      expect(placeIn(`${before}<p>Body</p>`)).toBe(before);
    },
  );

  it.each([
    ['', '<p>First</p><body>'],
    ['<!doctype html><html>', 'First<head></head><body>'],
    ['<head>', '<bodyguard></head><body>'],
    ['<head>', '&nbsp;</head><body>'],
    ['<head>', '<img src="x"></head><body>'],
    ['<head><noscript>', '<p>First</p></noscript></head><body>'],
    ['', '<iframe><body></iframe><body>'],
    ['<body>', 'First<body class="second">'],
  ])('inserts after %j, since %s is displayed before, or in, a later body', (before, after) => {
    expect(placeIn(`${before}${after}<p>Body</p>`)).toBe(before);
  });

  it('goes to the start of a body that shows nothing', () => {
    expect(placeIn('<!doctype html><body><!-- x --></body>')).toBe('<!doctype html><body>');
  });

  it.each(['<!-- <body>', '<style><body>', '<p title="<body>', 'a < b', '<'])(
    'goes to the start where %j never ends or is no tag',
    (html) => {
      expect(placeIn(html)).toBe('');
    },
  );

  it('takes linear time in the length of the HTML', () => {
    const before = process.threadCpuUsage();
    for (const unit of [
      '<',
      '<!--',
      '<a "',
      '<style>',
      '<a b="',
      '</',
      '<link>',
      '</p>',
      '<template>',
      '<meta "',
    ])
      withPreviewText(unit.repeat(300_000), 'Hi');
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(3_000);
  });
});
