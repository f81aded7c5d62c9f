import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { DatabaseClock, Refusal } from '@posthorn/kernel';
import { type HitKind, machineSign } from '@posthorn/domain';
import { FollowLink, type TrackedLink, TrackingLinks, NoticeHits } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { Describes, linkToken } from '../openapi/describes.ts';

const NO_SUCH_LINK = new Refusal(
  404,
  'The link was never made by this service, or only a part of it was copied; take the one in the email',
);

/** One transparent pixel (GIF89a). */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** The links and images of tracked emails. Their tokens are self-contained, so that they also work without the database. */
@Controller('t')
export class TrackingController {
  constructor(
    private readonly followLink: FollowLink,
    private readonly links: TrackingLinks,
    private readonly hits: NoticeHits,
    private readonly clock: DatabaseClock,
  ) {}

  @Get('c/:token')
  @Describes({
    name: 'followLink',
    tag: 'Emails',
    summary: 'Follow a tracked link of an email',
    description:
      'Redirects to the original target of the link, which is part of the signed token. At the host that a workspace has of its own, only links of its emails work; nothing else in the request matters.',
    path: { token: linkToken('click') },
    answer: { redirectsTo: 'https://example.com/shop' },
    refuses: { 'No such link': NO_SUCH_LINK },
  })
  async follow(
    @Param('token') token: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const link = await this.followLink.follow(token, request.headers.host);
    if (link === undefined) throw NO_SUCH_LINK;
    // Node gives the length of an empty body to GET only.
    response.status(302).setHeader('Location', link.url).setHeader('Content-Length', 0).end();
    this.note('click', request, link);
  }

  @Get('o/:token')
  @Describes({
    name: 'loadImage',
    tag: 'Emails',
    summary: 'Load the image of a tracked email',
    description: 'One transparent pixel, even for an invalid token: an email never shows a broken image.',
    path: { token: linkToken('open') },
    answer: { contentType: 'image/gif', schema: { type: 'string', format: 'binary' }, example: 'GIF89a…' },
  })
  load(@Param('token') token: string, @Req() request: Request, @Res() response: Response): void {
    response
      .status(200)
      .setHeader('Content-Type', 'image/gif')
      .setHeader('Content-Length', PIXEL.length)
      .end(PIXEL);
    const emailId = this.links.emailWith(token);
    if (emailId !== undefined) this.note('open', request, { emailId });
  }

  /** Of the request, only whether it looks automated is recorded. */
  private note(
    kind: HitKind,
    { method, headers }: Request,
    about: Pick<TrackedLink, 'emailId'> & Partial<TrackedLink>,
  ): void {
    this.hits.note({ kind, at: this.clock.now(), sign: machineSign({ kind, method, headers }), ...about });
  }
}
