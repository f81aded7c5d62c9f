import { type Database, DkimKeyStore, TemplateStore } from '@posthorn/database';
import type {
  BounceSettings,
  HttpSettings,
  MessageSettings,
  SecretSettings,
  TrackingSettings,
} from '@posthorn/platform';
import type { Renderers } from '@posthorn/rendering';
import type { SecretBox } from '@posthorn/signing';
import { TrackHtml } from '../tracking/track-html.ts';
import { TrackingLinks } from '../tracking/tracking-links.ts';
import { UnsubscribeLinks } from '../unsubscribe/unsubscribe-links.ts';
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

/** The settings that messages depend on. */
interface ComposerSettings {
  readonly http: HttpSettings;
  readonly secrets: SecretSettings;
  readonly tracking: TrackingSettings;
  readonly bounces: BounceSettings;
  readonly messages: MessageSettings;
}

/** The parts of a composer, the same in every app that has the same settings. */
export function composerParts(
  database: Database,
  renderers: Renderers,
  { http, secrets, tracking, bounces, messages }: ComposerSettings,
): ComposerParts {
  const { publicUrl } = http;
  const signer = secrets.linkSigner;
  const addresses = secrets.addresses('unsubscribe', bounces.BOUNCE_DOMAIN);
  return {
    database,
    ...renderers,
    secretBox: secrets.box,
    trackingLinks: new TrackingLinks({ signer, trackingUrl: tracking.trackingUrl(publicUrl) }),
    unsubscribeLinks: new UnsubscribeLinks({ signer, publicUrl, addresses }),
    feedbackSenderId: messages.FEEDBACK_SENDER_ID,
  };
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
