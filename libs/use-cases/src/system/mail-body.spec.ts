import { describe, expect, it } from '@jest/globals';
import { mailBody } from './mail-body.ts';

describe('The body of a system mail', () => {
  it('has the same paragraphs as text and as HTML, in which long words are broken', () => {
    const link = 'https://posthorn.example/invitations?token=a&b';
    expect(mailBody(['“A <b>”', { link }])).toEqual({
      text: `“A <b>”\n\n${link}`,
      html:
        '<div style="overflow-wrap:anywhere"><p>“A &lt;b&gt;”</p>' +
        '<p><a href="https://posthorn.example/invitations?token=a&amp;b">https://posthorn.example/invitations?token=a&amp;b</a></p></div>',
    });
  });
});
