import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, it } from '@jest/globals';
import { NODE_ON_SOURCES } from '@posthorn/testing';
import { HtmlToText } from './html-to-text.ts';
import { withPreviewText } from './preview-text.ts';
import type { RenderingFailed } from './rendering-failed.ts';

/** Each level indents its whole content again, so the time grows with the cube of the depth: 20 s and more. */
const PATHOLOGICAL = '<blockquote>x y'.repeat(2_500);

const failureOf = (promise: Promise<string>): Promise<RenderingFailed | string> =>
  promise.catch((error: unknown) => error as RenderingFailed);

describe('S16: HtmlToText', () => {
  const htmlToText = new HtmlToText({ maxThreads: 1 });
  afterAll(() => htmlToText.close());

  it.each([
    ['<p>Hi</p><p>there</p>', 'Hi\n\nthere'],
    ['<a href="https://example.com/x">Pay now</a>', 'Pay now ( https://example.com/x )'],
    ['<a href="https://example.com/">https://example.com/</a>', 'https://example.com/'],
    [
      '<table><tr><td>Total</td><td>5 €</td></tr><tr><td>Due</td><td>1 May</td></tr></table>',
      'Total 5 €\nDue 1 May',
    ],
    ['<img src="logo.png" alt="Acme"><img src="pixel.gif">', 'Acme'],
    ['<h1>Welcome</h1><p>Hi</p>', 'Welcome\n\nHi'],
    ['<title>No</title><style>p{}</style><p style="DISPLAY:none">No</p><p>Yes</p>', 'Yes'],
    [
      '<p>First</p><!doctype html><html><head><title>No</title></head><body>Second</body></html><p>Footer',
      'First\n\nSecond\n\nFooter',
    ],
    [
      '<html><body><p>One</p></body></html><html><head><style>p{}</style></head><body><p>Two</p></body></html>',
      'One\n\nTwo',
    ],
    ['<template><p>No</p></template><p>Yes</p>', 'Yes'],
    ['<ol><li>a</li><li>b</li></ol><ol type="a" start="3"><li>a</li></ol>', '1. a\n 2. b\n\n c. a'],
    [
      '<ol type="I" start="12"><li>a</li></ol><ol type="i" start="10000"><li>a</li></ol>',
      'XII. a\n\n 10000. a',
    ],
    ['<ol type="A" start="x"><li>a</li></ol><ol type="a" start="-1"><li>a</li></ol>', 'A. a\n\n -1. a'],
    ['List<constructor> and <Constructor style="display:none">No</Constructor>more', 'List and more'],
    ['', ''],
  ])('makes readable text of %s', async (html, text) => {
    expect(await htmlToText.convert(html, 'a')).toBe(text);
  });

  it.each([
    ['a link without text', '<a href="https://a.example/"></a>', 'https://a.example/'],
    [
      'icons without alternative text',
      'Follow<a href="https://a.example/"><img src="a.png"></a><a href="https://b.example/"><img src="b.png"></a>us',
      'Follow https://a.example/ https://b.example/ us',
    ],
    [
      'white space in a link',
      '<a href="\n https://a.example/x\n\t/y z ">x</a>',
      'x ( https://a.example/x/y%20z )',
    ],
    [
      'links that are code, data or places in the email',
      '<a href="javascript:void(0)">a</a> <a href=" JavaScript:x">b</a> <a href="data:text/html,x">c</a> <a href="#top">d</a> <a href="">e</a>',
      'a b c d e',
    ],
    [
      'an address to write to',
      '<a href="mailto:ann@a.example?subject=Hi%20Ann">Write</a> to <a href="MAILTO:Ann@A.example">ann@a.example</a>, or <a href="mailto:?body=x">share</a>',
      'Write ( ann@a.example ) to ann@a.example, or share',
    ],
    [
      'a number to call',
      '<a href="tel:+49301234">+49 (30) 12-34</a>, <a href="tel:+49301234">call</a>, <a href="sms:+49301234?body=Hi">text us</a>',
      '+49 (30) 12-34, call ( +49301234 ), text us ( +49301234 )',
    ],
    [
      'pictures as the texts of links',
      '<a href="https://a.example/"><span><img alt="Acme Shop" src="a.png"></span></a>',
      'Acme Shop ( https://a.example/ )',
    ],
    ['a link into an app', '<a href="shop://orders/1">Order</a>', 'Order ( shop://orders/1 )'],
  ])('shows the targets of links, which stay whole and apart from the text: %s', async (_, html, text) => {
    expect(await htmlToText.convert(html, 'a')).toBe(text);
  });

  it.each([
    ['max-height:0;overflow:hidden;mso-hide:all'],
    ['overflow: hidden; Max-Height: 0px;'],
    ['color:transparent;visibility:hidden;opacity:0;font-size:0'],
    ['visibility: hidden'],
  ])('omits content that is hidden by %s', async (style) => {
    expect(await htmlToText.convert(`<div style="${style}">Preview</div><p>Body</p>`, 'a')).toBe('Body');
  });

  it.each(['overflow:hidden;max-height:100px', 'mso-hide:all', 'max-height:0', 'font-size:0'])(
    'keeps content with the style %s, which does not hide it everywhere',
    async (style) => {
      expect(await htmlToText.convert(`<div style="${style}">Button</div>`, 'a')).toBe('Button');
    },
  );

  it.each([
    [
      `<span class="preheader">Preview${'&#847;&zwnj;&nbsp;'.repeat(50)}</span><p>Body</p>`,
      'Preview\n\nBody',
    ],
    [`Preview ${'&zwnj;&#8203;&zwj;&lrm;&rlm;&#65279; '.repeat(9)}<br>Body`, 'Preview\nBody'],
    [`Preview${'&#8199;&shy;'.repeat(9)}more`, 'Preview more'],
    ['Bestell&shy;bestäti&shy;gung', 'Bestellbestätigung'],
    ['می&zwnj;خواهم 👩‍👩‍👧 &rlm;שלום&rlm; sho&#8203;es', 'می\u200cخواهم 👩‍👩‍👧 \u200fשלום\u200f sho\u200bes'],
  ])('omits padding that shows nothing, and keeps what correct spelling needs: %s', async (html, text) => {
    expect(await htmlToText.convert(html, 'a')).toBe(text);
  });

  it.each([
    [
      '<p>Ann wrote:</p><p style="white-space: pre-wrap">Hello,\n\ncall me\n  at 5</p>',
      'Ann wrote:\n\nHello,\n\ncall me\n  at 5',
    ],
    ['<div style="white-space:pre-line">a\n<b>b</b></div>c', 'a\nb\nc'],
    [
      '<p style="white-space:pre-wrap">see\n<a href="https://a.example/">https://a.example/</a>, <a href="https://b.example/">b</a></p>',
      'see\nhttps://a.example/, b ( https://b.example/ )',
    ],
    ['<table><tr><td>a</td><td><div style="white-space:pre-wrap">b\nc</div></td></tr></table>', 'a\nb\nc'],
    ['<p style="white-space:nowrap">a\nb</p>', 'a b'],
    ['<div style="display:none;white-space:pre">No</div>Yes', 'Yes'],
    ['<p>a <span style="white-space:pre-wrap">b</span> c</p>', 'a b c'],
  ])('keeps the lines of what people wrote: %s', async (html, text) => {
    expect(await htmlToText.convert(html, 'a')).toBe(text);
  });

  it.each([
    ['<p>A<br></p><p>&nbsp;</p><p><br></p><div><br></div><p>B</p>', 'A\n\nB'],
    ['A<br><br><br><br>B<br>C', 'A\n\nB\nC'],
    ['<pre>a\n\n\n  b</pre>', 'a\n\n  b'],
  ])('makes one empty line of several: %s', async (html, text) => {
    expect(await htmlToText.convert(html, 'a')).toBe(text);
  });

  it.each([
    [
      'paragraphs of their own',
      '<tr><th><p>Item</p></th><th><p>Price</p></th></tr><tr><td>\n<!-- x --><div><p>Coffee</p></div>\n</td><td><p>3 €</p></td></tr>',
      'Item Price\nCoffee 3 €',
    ],
    [
      'paragraphs of several lines',
      '<tr><td><p>Ann<br>Road 1</p></td><td><p>Bob<br>Road 2</p></td></tr>',
      'Ann\nRoad 1\n\nBob\nRoad 2',
    ],
    [
      'several paragraphs',
      '<tr><td><h3>Fast</h3><p>One</p></td><td><h3>Free</h3><p>Two</p></td></tr>',
      'Fast\n\nOne\n\nFree\n\nTwo',
    ],
    [
      'a paragraph between margins',
      '<tr><td>&nbsp;</td><td><p>One</p></td><td><img src="x"></td></tr><tr><td></td><td><p>Two</p></td></tr>',
      'One\n\nTwo',
    ],
    [
      'an icon beside a paragraph',
      '<tr><td><img src="x" alt="Note:"></td><td><p>One</p></td></tr>',
      'Note: One',
    ],
  ])('shows the cells of a row in one line, if they have one: %s', async (_, rows, text) => {
    expect(await htmlToText.convert(`<table>${rows}</table>`, 'a')).toBe(text);
  });

  it.each([
    ['<dl><dt>Order</dt><dd>4711</dd><dt>Date</dt><dd>1 May</dd></dl>', 'Order\n4711\nDate\n1 May'],
    ['Hi<center>Acme</center><address>Road 1<br>Town</address>Bye', 'Hi\nAcme\nRoad 1\nTown\nBye'],
    ['<figure><img alt="Map"><figcaption>Here</figcaption></figure>x', 'Map\nHere\nx'],
    [
      '<details><summary>More</summary>text</details><table><caption>Prices</caption><tr><td>1',
      'More\ntext\nPrices\n1',
    ],
  ])('begins a new line where a browser does: %s', async (html, text) => {
    expect(await htmlToText.convert(html, 'a')).toBe(text);
  });

  it('omits the pre-header', async () => {
    expect(await htmlToText.convert(withPreviewText('<body><p>Body</p></body>', 'Preview'), 'a')).toBe(
      'Body',
    );
  });

  it('converts large HTML one at a time, without delaying other conversions', async () => {
    const shared = new HtmlToText({ maxThreads: 1, deadlineMs: 60_000 });
    const done: string[] = [];
    const convert = (name: string, html: string): Promise<unknown> =>
      shared.convert(html, name).then(() => done.push(name));
    // Starting a thread takes time.
    await convert('started', 'x');
    await Promise.all([
      convert('first large', '<td>x</td>'.repeat(100_000)),
      convert('second large', 'x'.repeat(600_000)),
      convert('small', 'x'),
    ]);
    expect(done).toEqual(['started', 'small', 'first large', 'second large']);
    await shared.close();
  });

  it('kills a conversion at its deadline, and goes on with others', async () => {
    // Long enough for a thread to start on a busy machine.
    const impatient = new HtmlToText({ maxThreads: 1, deadlineMs: 5_000 });
    const slow = failureOf(impatient.convert(PATHOLOGICAL, 'a'));
    const next = failureOf(impatient.convert('<p>next</p>', 'a'));
    expect(await slow).toMatchObject({ name: 'RenderingFailed', reason: 'deadline' });
    expect(await next).toBe('next');
    await impatient.close();
  });

  it('keeps a thread free for other owners, however much HTML of one takes too long', async () => {
    const shared = new HtmlToText({ maxThreads: 2 });
    let failed = 0;
    const slow = Array.from({ length: 6 }, () =>
      failureOf(shared.convert(PATHOLOGICAL, 'a')).finally(() => (failed += 1)),
    );
    expect(await shared.convert('<p>of another</p>', 'b')).toBe('of another');
    expect(failed).toBe(0);
    await slow[0];
    expect(await shared.convert('<p>of a third</p>', 'c')).toBe('of a third');
    // One took too long, and of the five others four may wait.
    expect(failed).toBe(2);
    await shared.close();
    await Promise.all(slow);
  });

  it('ends the thread, not the process, when memory runs out, and goes on with others', async () => {
    const small = new HtmlToText({ maxThreads: 1, maxHeapMb: 64, deadlineMs: 30_000 });
    expect(await failureOf(small.convert('<b>x</b>'.repeat(500_000), 'a'))).toMatchObject({
      reason: 'memory',
    });
    expect(await small.convert('<p>next</p>', 'a')).toBe('next');
    await small.close();
  });

  it('reports a crash where nested markup overflows the stack, and goes on with others', async () => {
    expect(await failureOf(htmlToText.convert('<ul><li>'.repeat(6_000), 'a'))).toMatchObject({
      reason: 'crash',
    });
    expect(await htmlToText.convert('<p>next</p>', 'a')).toBe('next');
  });

  it('refuses work after it was closed, also when it was never used', async () => {
    const closed = new HtmlToText();
    await closed.close();
    expect(await failureOf(closed.convert('x', 'a'))).toMatchObject({ reason: 'crash' });
  });

  it('keeps a process alive until the conversion is done, and no longer', () => {
    const module = new URL('./html-to-text.ts', import.meta.url).href;
    const script = `const { HtmlToText } = await import('${module}'); console.log(await new HtmlToText().convert('<p>done</p>', 'a'))`;
    const [node, ...flags] = NODE_ON_SOURCES;
    const output = execFileSync(node!, [...flags, '-e', script], {
      timeout: 200_000,
      encoding: 'utf8',
    });
    expect(output).toBe('done\n');
  });
});
