import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import { type EmailDraft, type JsonObject, type JsonValue, SIZES } from '@posthorn/domain';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { type JsonText, strictFaultOf, traceparentOf } from '@posthorn/platform';
import { AcceptEmails, type BatchItem } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { Describes } from '../openapi/describes.ts';
import { addressOfItem, validateItem } from '../validation/batch.ts';
import { validateBody } from '../validation/validate-body.ts';
import { toDraft } from './email-draft.ts';
import { BATCH_REFUSALS } from './email-refusals.ts';
import { BatchAcceptedAnswer } from './email-batch.answers.ts';
import { acceptedJson } from './accepted-json.ts';
import { idempotencyHeader } from './idempotency-header.ts';
import { validateEmailRequest } from './validate-email-request.ts';
import { SendBatchRequest } from './send-batch.request.ts';

@Controller('v1/emails/batch')
export class EmailBatchController {
  constructor(private readonly acceptEmails: AcceptEmails) {}

  @Post()
  @RequiresScope('api_user')
  @Describes({
    name: 'sendBatch',
    tag: 'Emails',
    summary: `Send up to ${SIZES.batch.max} emails`,
    description:
      'Accepts the emails of the array; each is validated on its own, in order. Status 200 means that the array itself was valid. ' +
      'The answer has the result of each item: its email is in `successful`, or the item is in `failed`, with its `index` and the error that it would have got if sent alone. ' +
      'The header `Idempotency-Key` covers the whole call; each item may have an `idempotencyKey` of its own.',
    body: SendBatchRequest,
    idempotent: true,
    answer: BatchAcceptedAnswer,
    refuses: BATCH_REFUSALS,
  })
  async send(
    @Caller() caller: Principal,
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    const idempotencyKey = idempotencyHeader(request);
    const { emails } = validateBody(SendBatchRequest, body);
    const items = emails.map(batchItem);
    const traceparent = traceparentOf(request);
    const batch = { items, idempotencyKey, fingerprintSource: fingerprintSourceOf(emails), traceparent };
    const { answer, isReplay } = await this.acceptEmails.acceptBatch(caller.workspaceId, batch);
    if (isReplay) response.setHeader('Idempotent-Replayed', 'true');
    return acceptedJson(answer);
  }
}

/** Numbers that JSON cannot represent again (`1e999`) count as null; their items are refused. */
function fingerprintSourceOf(emails: unknown[]): JsonObject {
  const isSayable = emails.every((item) => strictFaultOf(item) === undefined);
  return { emails: (isSayable ? emails : JSON.parse(JSON.stringify(emails))) as JsonValue[] };
}

const draftOf = (item: unknown): EmailDraft => toDraft(validateEmailRequest(item));

function batchItem(item: unknown): BatchItem {
  return { draft: validateItem(item, draftOf), to: addressOfItem(item, 'to') };
}
