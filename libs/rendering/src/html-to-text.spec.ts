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
    ['<a href="https://example.com/x">Pay now</a>', 'Pay now [https://example.com/x]'],
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
    ['', ''],
  ])('makes readable text of %s', async (html, text) => {
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
      timeout: 45_000,
      encoding: 'utf8',
    });
    expect(output).toBe('done\n');
  });
});
