import { html } from '../pages/html.ts';

/** Forbids scripts, loading, forms and frames. `sandbox` takes the origin away even where the frame's URL is opened by itself. */
export const FRAME_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/**
 * Elements that contact other servers in spite of a content security policy: connection hints (`<link rel="preconnect">`), and frames with an
 * inline document (`srcdoc`) that may contain such hints. They are replaced by elements without effect.
 */
const CONNECTING_ELEMENTS = /<(?:link|iframe|frame)(?=[\s/>])/gi;

/** The HTML of an email, safe to show to an operator under {@link FRAME_POLICY}. */
export function sanitizeForFrame(emailHtml: string): string {
  return emailHtml.replace(CONNECTING_ELEMENTS, '<wbr');
}

/** Shown in place of an email that cannot be composed. */
export function faultFrame(sentence: string): string {
  return html`<!doctype html>
    <p style="font:16px system-ui,sans-serif">${sentence}.</p>`.text;
}
