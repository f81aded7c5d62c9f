import { type Database, DkimKeyStore, TemplateStore } from '@posthorn/database';
import type { Renderers } from '@posthorn/rendering';
import type { SecretBox } from '@posthorn/signing';
import { TrackHtml } from '../tracking/track-html.ts';
import type { TrackingLinks } from '../tracking/tracking-links.ts';
import type { UnsubscribeLinks } from '../unsubscribe/unsubscribe-links.ts';
import { ComposeEmail } from './compose-email.ts';
import { SigningKeys } from './signing-keys.ts';
import { TemplateVersions } from './template-versions.ts';

export interface ComposerParts extends Renderers {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly trackingLinks: TrackingLinks;
  readonly unsubscribeLinks: UnsubscribeLinks;
  readonly feedbackSenderId: string | undefined;
}

/** The only way to create a composer, so that previews have the same bytes as sent messages. */
export function openComposer(parts: ComposerParts): ComposeEmail {
  const { database, htmlToText, renderer, unsubscribeLinks, feedbackSenderId } = parts;
  return new ComposeEmail({
    htmlToText,
    renderer,
    unsubscribeLinks,
    feedbackSenderId,
    versions: new TemplateVersions(new TemplateStore(database)),
    signingKeys: new SigningKeys(new DkimKeyStore(database), parts.secretBox),
    tracking: new TrackHtml({ finder: parts.linkFinder, links: parts.trackingLinks }),
  });
}
