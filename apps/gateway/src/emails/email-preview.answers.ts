import { count, objectOf, text } from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';

/** What an email says, and the message that says it. */
export class EmailPreview {
  @Shown('The subject line.', text, { example: 'Your receipt' })
  subject!: string;

  @Shown('The HTML as it leaves, with the preview text hidden at its start.', text, {
    example: '<h1>Thank you!</h1>',
  })
  html!: string;

  @Shown('The plain text as it leaves; made from the HTML where none was given.', text, {
    example: 'Thank you!',
  })
  text!: string;

  @Shown('The whole message (RFC 5322), headers and all, as it is handed to the relay: its UTF-8.', text, {
    example: 'From: Shop <shop@example.com>\r\nTo: ada@example.com\r\nSubject: Your receipt\r\n…',
  })
  message!: string;

  @Shown('The length of the message in bytes.', count, { example: 1024 })
  bytes!: number;

  @Shown(
    'SHA-256 of the message. An attempt whose `messageSha256` in the timeline is the same transmitted exactly these bytes.',
    text,
    { example: '696d629b7dff6b72b8f35fc54e363424f98d031b27d22967838c38a05ea6a8b2' },
  )
  sha256!: string;
}

/** The answer that previews an email. */
export class EmailPreviewAnswer {
  @Shown('The preview.', objectOf(EmailPreview))
  preview!: EmailPreview;
}
