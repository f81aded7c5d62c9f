import { html } from '../pages/html.ts';

/** Nothing is run, loaded, sent or framed; the frame has no origin either, by whatever way it is opened. */
export const FRAME_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/**
 * Elements that a policy does not keep from telling other servers: hints about connections (`<link rel="preconnect">`), and frames with a
 * document of their own in an attribute (`srcdoc`), which could hold such hints. They become elements that do nothing.
 */
const TELLING = /<(?:link|iframe|frame)(?=[\s/>])/gi;

/** The HTML of an email, as it may be shown to an operator. */
export function framed(emailHtml: string): string {
  return emailHtml.replace(TELLING, '<wbr');
}

/** What is shown in place of an email that no message can be made of. */
export function framedFault(sentence: string): string {
  return html`<!doctype html>
    <p style="font:16px system-ui,sans-serif">${sentence}.</p>`.text;
}
