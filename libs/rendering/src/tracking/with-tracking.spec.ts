import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findLinks } from './find-links.ts';
import { LinkFinder } from './link-finder.ts';
import { linkTarget } from './link-target.ts';
import { type Tracking, withTracking } from './with-tracking.ts';

const linkTo = (url: string): string => `https://t.example/${Buffer.from(url).toString('hex')}`;
const IMAGE = 'https://t.example/image?a=1&b=2';

function tracked(html: string, tracking: Tracking = { linkTo }): string {
  return withTracking(html, findLinks(html), tracking);
}

/** The HTML with `«…»` around each link target that is to be replaced. */
function expected(marked: string): [html: string, tracked: string] {
  const html = marked.replaceAll(/[«»]/g, '');
  return [html, marked.replaceAll(/«([^»]*)»/g, (_, value: string) => linkTo(linkTarget(plain(value))!))];
}

function plain(value: string): string {
  return value.replaceAll('&amp;', '&').replaceAll('&#58;', ':');
}

describe('S17: the links of an email', () => {
  it('are found at once in an href of a megabyte of spaces', () => {
    // A regular expression that searches for trailing spaces from each position would take minutes.
    const href = `https://example.com/${' '.repeat(2 ** 20)}x`;
    expect(linkTarget(href)).toHaveLength('https://example.com/x'.length + 3 * 2 ** 20);
  });

  it.each([
    '<p>Read <a href="«https://example.com/a?b=1&amp;c=2#d»" class="x">this</a> and <a\n HREF = \'«HTTP://EXAMPLE.com»\'>that</a></p>',
    '<a href=«https://example.com/unquoted»>x</a><area href="«https://example.com/area»"/>',
    '<a href="«https&#58;//example.com/»">x</a>',
    '<a href="  «https://example.com/spaces»">x</a>'.replace('  «', '«  '),
    '<a title="href=https://example.com/no > x" href="«https://example.com/yes»">x</a>',
    '<a href="«https://example.com/first»" href="https://example.com/second">x</a>',
    '<a data-x="1"href="«https://example.com/no-space»">x</a>',
    '<!--[if !mso]><!--><a href="«https://example.com/»">x</a><!--<![endif]-->',
    '<!-- x --!><a href="«https://example.com/»">x</a><title>x</title/><a href="«https://example.com/2»">x</a>',
    '<noscript><a href="«https://example.com/»">x</a></noscript><![if !mso]><a href="«https://example.com/2»">x</a><![endif]>',
    '<a href="«https://münchen.example/straße?q=ü»">x</a>',
    '<a data-track="on" data-track="off" href="«https://example.com/»">the first counts</a>',
  ])('are replaced by tracked links, and nothing else changes in %s', (marked) => {
    const [html, after] = expected(marked);
    expect(tracked(html)).toBe(after);
  });

  it.each([
    '<a href="mailto:a@example.com">m</a><a href="tel:+491234">t</a><a href="#top">f</a><a href="/relative">r</a>',
    '<a href="javascript:alert(1)">j</a><a href="data:text/html,x">d</a><a href="ftp://example.com/">f</a><a href="https:">e</a>',
    '<a href="https://example.com/Unsubscribe?u=1">u</a><a href="https://example.com/opt-out">o</a>',
    '<a href="https://user:secret@example.com/">c</a>',
    '<a href="https://example.com/" data-track="off">kept</a><a data-track=OFF href="https://example.com/">kept</a>',
    '<a data-track="off" data-track="on" href="https://example.com/">the first counts</a>',
    '<!-- <a href="https://example.com/">x</a> --><!--[if mso]><a href="https://example.com/">x</a><![endif]-->',
    '<script>"<a href=https://example.com/>"</script><style><a href="https://example.com/"></style><title><a href="https://example.com/"></title><textarea><a href="https://example.com/"></textarea>',
    '<iframe><a href="https://example.com/"></iframe><noembed><a href="https://example.com/"></noembed><noframes><a href="https://example.com/"></noframes>',
    '<xmp><a href="https://example.com/"></xmp><title/><a href="https://example.com/"></title><plaintext><a href="https://example.com/">',
    '<a href href="https://example.com/second">x</a>',
    '<link href="https://example.com/x.css"><base href="https://example.com/"><img src="https://example.com/x.png">',
    '<a href>x</a><a href="">x</a><a href="https://exa mple.com/">x</a><a name="https://example.com/">x</a>',
    'https://example.com/ in a text, <a href="https://example.com/',
    '',
  ])('are not replaced in %s', (html) => {
    expect(tracked(html)).toBe(html);
  });

  it('are not replaced where no tracked link can be made, for instance when they are too long', () => {
    const html = '<a href="https://example.com/">x</a>';
    expect(tracked(html, { linkTo: () => undefined })).toBe(html);
    expect(tracked(html, {})).toBe(html);
  });

  it('are replaced up to the thousandth', () => {
    const html = '<a href="https://example.com/">x</a>'.repeat(1_001);
    expect(tracked(html).split(linkTo('https://example.com/'))).toHaveLength(1_001);
    expect(tracked(html).endsWith('<a href="https://example.com/">x</a>')).toBe(true);
  });

  it('are all that changes, in any document', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<a href="',
        '"',
        "'",
        '>',
        '<',
        '</a>',
        '<!--',
        '-->',
        '<script>',
        '</script>',
        '</body>',
        '</html>',
        '&amp;',
        ' href=',
        '=',
      ),
      fc.constantFrom(
        'https://example.com/',
        'mailto:a@b.c',
        '<a href=',
        "<A HREF='",
        '<area ',
        '/>',
        '&#x68;ttp://x.example',
        '\u0000',
        '<![CDATA[',
        ']]>',
      ),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const html = pieces.join('');
        const { links, bodyEnd } = findLinks(html);
        const found = links.map(({ start, end }) => html.slice(start, end));
        // Each replacement is found again in its place, and nothing else has become a link.
        const marked = withTracking(html, { links, bodyEnd }, { linkTo: () => 'https://t.example/' });
        const again = findLinks(marked).links;
        expect(again).toHaveLength(links.length);
        let restored = marked;
        for (const [n, { start, end }] of [...again.entries()].reverse())
          restored = restored.slice(0, start) + found[n]! + restored.slice(end);
        expect(restored).toBe(html);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('S17: the image of one pixel', () => {
  const image =
    '<img src="https://t.example/image?a=1&amp;b=2" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">';
  it.each([
    ['<html><body><p>x</p>|</body></html>'],
    ['<body>x</body><p>later</p>|</BODY >'],
    ['<p>x</p>|'],
    ['<p>x</p>|</html>'],
    ['<p>x</p><!-- </body> -->|'],
    ['<body>x|</body><a href="mailto:a@example.com">y</a>'],
  ])('is added at the end of the body: %s', (marked) => {
    expect(tracked(marked.replace('|', ''), { image: IMAGE, linkTo })).toBe(marked.replace('|', image));
  });
});

describe('S17: finding links', () => {
  it('takes linear time for any HTML: quadratic time would be a thousand times longer', () => {
    const millisecondsFor = (piece: string): number => {
      const html = piece.repeat(Math.ceil(2_097_152 / piece.length));
      const before = process.threadCpuUsage();
      findLinks(html);
      return process.threadCpuUsage(before).user / 1_000;
    };
    millisecondsFor('<p>x</p>');
    const usual = millisecondsFor('<p>x</p>');
    for (const piece of [
      '<b>',
      '</i>',
      '<a href="',
      '<!--',
      '<a href=',
      '&amp',
      '&#',
      '<a href="https://x.example/">',
      '</body',
      '=',
      '<a \u00a0',
    ]) {
      expect([piece, millisecondsFor(piece) < 100 * usual]).toEqual([piece, true]);
    }
  });

  it('gives the same result in a thread', async () => {
    const finder = new LinkFinder();
    const html = `<a href="https://example.com/">x</a>${'<p>x</p>'.repeat(20_000)}</body>`;
    expect(await finder.find(html, 'wrk_1')).toEqual(findLinks(html));
    await finder.close();
  });
});
