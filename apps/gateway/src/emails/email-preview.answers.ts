import { count, objectOf, text } from '../openapi/answer-schemas.ts';
import { AnswerField } from '../openapi/answer-field.ts';

/** The content of an email, and its message. */
export class EmailPreview {
  @AnswerField('The subject line.', text, { example: 'Your receipt' })
  subject!: string;

  @AnswerField('The HTML as it is sent, with the preview text hidden at its start.', text, {
    example: '<h1>Thank you!</h1>',
  })
  html!: string;

  @AnswerField('The plain text as it is sent; made from the HTML if none was given.', text, {
    example: 'Thank you!',
  })
  text!: string;

  @AnswerField(
    'The whole message (RFC 5322) with its headers, as it is handed to the relay; encode it in UTF-8 to get the bytes.',
    text,
    { example: 'From: Shop <shop@example.com>\r\nTo: ada@example.com\r\nSubject: Your receipt\r\n…' },
  )
  message!: string;

  @AnswerField('The length of the message in bytes.', count, { example: 1024 })
  bytes!: number;

  @AnswerField(
    'SHA-256 of the message. An attempt whose `messageSha256` in the timeline is the same transmitted exactly these bytes.',
    text,
    { example: '696d629b7dff6b72b8f35fc54e363424f98d031b27d22967838c38a05ea6a8b2' },
  )
  sha256!: string;
}

export class EmailPreviewAnswer {
  @AnswerField('The preview.', objectOf(EmailPreview))
  preview!: EmailPreview;
}
