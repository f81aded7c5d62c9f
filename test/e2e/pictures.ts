import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { BrowserPage, PageSize } from '@posthorn/testing';

const SCREENSHOTS = join(import.meta.dirname, '../../docs/screenshots');

export const TELEPHONE: PageSize = { width: 360, height: 740, mobile: true };
/** To be evaluated in a page. */
export const WIDER_THAN_THE_SCREEN = 'document.documentElement.scrollWidth > screen.width';

/** Takes a screenshot, and saves it for the documentation if UPDATE_DOCS=1. */
export async function picture(page: BrowserPage, name: string): Promise<void> {
  const png = await page.screenshot();
  expect(png.subarray(1, 4).toString('latin1')).toBe('PNG');
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(SCREENSHOTS, `${name}.png`), png);
}
