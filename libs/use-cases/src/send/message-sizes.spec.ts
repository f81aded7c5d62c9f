import { afterAll, describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { SIZES } from '@posthorn/domain';
import { InboundSettings } from '@posthorn/platform';
import { composeMessage, type RenderedTemplate, TemplateRenderer } from '@posthorn/rendering';

const renderer = new TemplateRenderer();
afterAll(() => renderer.close());

let versions = 0;
function render(part: 'subject' | 'html' | 'text' | 'previewText', a: unknown): Promise<RenderedTemplate> {
  const parts = { subject: 's', html: 'h', [part]: Array.isArray(a) ? '{{#each a}}x{{/each}}' : '{{{a}}}' };
  return renderer.render({ id: `v${(versions += 1)}`, parts, defaults: {} }, { a }, 'wrk');
}

describe('G11: what is made from a template may be as large as what is given', () => {
  it.each(['html', 'text'] as const)('%s', async (part) => {
    const largest = 'é'.repeat(SIZES[part].max / 2);
    expect((await render(part, largest))[part]).toBe(largest);
    await expect(render(part, `${largest}x`)).rejects.toThrow('becomes more than');
  });

  it('subject', async () => {
    const largest = '😀'.repeat(SIZES.subject.max);
    expect((await render('subject', largest)).subject).toBe(largest);
    await expect(render('subject', `${largest}x`)).rejects.toThrow('becomes more than');
  });

  it('previewText, which is cut', async () => {
    const largest = '😀'.repeat(SIZES.previewText.max);
    expect((await render('previewText', largest)).previewText).toBe(largest);
    expect((await render('previewText', `${largest}x`)).previewText).toBe(largest);
  });
});

it('G11: a template may loop over all the items that variables can have', async () => {
  const most = (SIZES.variables.max - '{"a":[]}'.length) / '0,'.length;
  expect((await render('html', Array<number>(most).fill(0))).html).toHaveLength(most);
});

it('G11: the largest message can come back: `inbound` takes it, however its text is encoded', () => {
  // Half-way between what suits quoted-printable, which doubles line feeds, and base64, which then adds a third.
  const part = 'é\n\n\n\n\n'.repeat(10_000);
  const mailbox = { address: 'a@example.com' };
  const message = composeMessage({
    id: newId('trs', 0),
    messageId: 'm@example.com',
    date: new Date(0),
    from: mailbox,
    to: mailbox,
    replyTo: [],
    subject: 's',
    html: part,
    text: part,
  });
  const growth = message.length / (2 * Buffer.byteLength(part));
  expect(growth).toBeGreaterThan(2.2);
  // Base64 in lines of 76 characters and a line break.
  const files = SIZES.attachedFiles.max * (4 / 3) * (78 / 76);
  const largest = (SIZES.html.max + SIZES.text.max) * growth + files;
  expect(largest).toBeLessThan(new InboundSettings().INBOUND_MAX_BYTES);
});
