import { describe, expect, it } from '@jest/globals';
import { fill, filledCorpus } from './corpus.mjs';

describe('The filled corpus', () => {
  const corpus = filledCorpus();

  it('has eleven emails with a subject, HTML and text', () => {
    expect(corpus).toHaveLength(11);
    for (const { subject, html, text } of corpus) {
      expect(subject).toMatch(/\S/);
      expect(html).toContain('<html');
      expect(text).toMatch(/\S/);
    }
  });

  it('leaves no placeholder', () => {
    for (const { html, text } of corpus) expect(`${html}${text}`).not.toMatch(/\{\{|\}\}/);
  });

  it('shows lists twice, sections once, and escapes values where asked', () => {
    expect(fill('{{#each rows}}-{{amount}}{{/each}}')).toBe('-€14.50-€14.50');
    expect(fill('{{#details}}{{ action_url }}{{/details}}', (value) => `[${value}]`)).toBe(
      '[https://app.example.com/action?token=abc&from=mail]',
    );
  });
});
