import type { ReplyClass } from './reply-classes.ts';

/** A text pattern that determines the class of a reply, with an example. */
interface KnownReply {
  readonly class: ReplyClass;
  /** The server or provider that is known, or believed, to say it. */
  readonly by: string;
  readonly text: RegExp;
  /**
   * A reply as a server has sent it, or a phrase from a public list of such replies with a code in front. Line breaks are spaces, and addresses and hosts are
   * replaced by ones for documentation.
   */
  readonly reply: string;
}

type Line = readonly [by: string, text: RegExp, reply: string];

const known = (replyClass: ReplyClass, lines: readonly Line[]): KnownReply[] =>
  lines.map(([by, text, reply]) => ({ class: replyClass, by, text, reply }));

/**
 * Texts of large providers and mail servers, for replies whose code and enhanced code are ambiguous. The first match wins, so specific
 * patterns come before general ones: a block list that is mentioned in a sentence with "user unknown" is a block list.
 */
export const KNOWN_REPLIES: readonly KnownReply[] = [
  ...known('policy', [
    // A group that only members may write to: not our login is missing, but theirs.
    [
      'Exchange',
      /RESOLVER\.RST\./,
      '550 5.7.1 RESOLVER.RST.AuthRequired; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group',
    ],
  ]),
  ...known('relay', [
    ['Postfix', /must issue a starttls/i, '530 5.7.0 Must issue a STARTTLS command first'],
    ['Sendmail', /authentication (is )?required/i, '550 5.7.1 Authentication required'],
    [
      'Exchange',
      /client was not authenticated/i,
      '530 5.7.57 Client not authenticated to send mail. Error: 530 5.7.57 Client was not authenticated to send anonymous mail during MAIL FROM',
    ],
    [
      'Gmail',
      /invalid credentials for relay/i,
      '550 5.7.1 Invalid credentials for relay [192.0.2.1]. The IP address you’ve registered in your Workspace SMTP Relay service doesn’t match the domain of the account this email is being sent from.',
    ],
    [
      'Amazon SES',
      /sending paused for this account|not authorized to perform ses:/i,
      '554 Message rejected: Sending paused for this account. For more information, please check the inbox of the email address associated with your AWS account.',
    ],
    // The mailbox that we log in with keeps what was sent; a person has to empty it.
    [
      'Microsoft',
      /STOREDRV\.Submission\.Exception:QuotaExceeded/,
      '554 5.2.2 mailbox full; STOREDRV.Submission.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded; Failed to process message due to a permanent exception with message Cannot submit message',
    ],
    [
      'SMTP2GO',
      /your account has been suspended\. please contact us/i,
      '552 Your account has been suspended. Please contact us to reactivate',
    ],
    ['SendGrid', /credits exceeded/i, '451 Authentication failed: Maximum credits exceeded'],
    [
      'Mailgun',
      /domain \S+ is not allowed to send/i,
      '550 5.7.1 Domain mg.example.com is not allowed to send: The account is disabled',
    ],
    [
      'Mail.ru',
      /message sending for this account is disabled/i,
      '550 Message sending for this account is disabled',
    ],
  ]),
  // They speak of messages and of mail as others do of a rate.
  ...known('mailbox_full', [
    [
      'web.de',
      /zuviele mails auf dem server|too many messages on the server/i,
      '550 Benutzer hat zuviele Mails auf dem Server. / User has too many messages on the server.',
    ],
    ['NTT Docomo', /too much mail data/i, '552 Too much mail data ada@docomo.ne.jp'],
    [
      'various',
      /user is over the quota/i,
      '550 <ada@example.net>: The user is over the quota. You can try again later.',
    ],
  ]),
  ...known('rate_limited', [
    [
      'Gmail',
      /receiving mail (at a rate|too quickly)/i,
      '450 4.2.1 The user you are trying to contact is receiving mail too quickly. Please resend your message at a later time. For more information, go to https://support.google.com/mail/?p=ReceivingRatePerm',
    ],
    [
      'Gmail',
      /unusual rate of/i,
      '421 4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your IP address. To protect our users from spam, mail sent from your IP address has been temporarily rate limited.',
    ],
    [
      'Gmail',
      /(hourly|daily|send|sending|relay) (user )?(sending )?(quota|limit) exceeded/i,
      '550 5.4.5 Daily user sending limit exceeded. For more information on Gmail sending limits go to https://support.google.com/a/answer/166852',
    ],
    [
      'Yahoo',
      /\[TSS?0\d\]|temporarily deferred due to/i,
      '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.yahooinc.com/error-codes',
    ],
    [
      'Yahoo',
      /rate[- ]?limit/i,
      '421 4.7.1 [TS03] All messages from 192.0.2.1 will be permanently deferred; Retrying will NOT succeed. rate limited by policy',
    ],
    [
      'Microsoft',
      /exceeded the (connection|rate) limit|limits? on the number of/i,
      '421 RP-001 (BAY004-MC1F1) Unfortunately, some messages from 192.0.2.1 weren’t sent. The mail server IP connecting to Outlook.com server has exceeded the rate limit allowed.',
    ],
    [
      'Apple',
      /too many messages|too much mail/i,
      '450 4.7.1 [CS01] Message rejected due to too many messages from 192.0.2.1. Please visit https://support.apple.com/en-us/HT204137',
    ],
    [
      'Postfix',
      /too many (connections|sessions|errors|recipients|concurrent)/i,
      '421 4.7.0 mx.example.net Error: too many connections from 192.0.2.1',
    ],
    [
      'Comcast',
      /try again later.*(threshold|frequency)|(threshold|frequency) exceeded/i,
      '421 4.1.0 192.0.2.1 Throttled - try again later. Sending threshold exceeded RL000001',
    ],
    [
      'Microsoft',
      /reached (your|the) (daily )?limit/i,
      '554 5.1.90 Your message can’t be sent because you’ve reached your daily limit for message recipients',
    ],
    [
      'Microsoft',
      /(thread|connections?) limit exceeded/i,
      '432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded',
    ],
    [
      'Exchange',
      /submission rate .{1,40} exceeded/i,
      '421 4.4.2 Message submission rate for this client has exceeded the configured limit',
    ],
    [
      'Microsoft',
      /SubmissionQuotaExceeded/,
      '554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException; Failed to process message due to a permanent exception with message The message can’t be submitted because the sender’s submission quota was exceeded',
    ],
    [
      'GoDaddy',
      /(exceeded|reached) (its|your|the) ([\w-]+ )?(hourly|daily|monthly|sending|messaging|outgoing) (e?mail )?(limit|quota)/i,
      '550 User shop@example.com has exceeded its 24-hour sending limit. Messages to 250 recipients out of 250 allowed have been sent. Relay quota will reset in 1.52 hours.',
    ],
    [
      'Zoho',
      /mail rate exceeded|unusual sending activity/i,
      '550 5.4.6 Unusual sending activity detected. Please try after sometime.',
    ],
    [
      'DreamHost',
      /policy rejection[- ]+(sender_)?quota[ _](exceeded|rejection)/i,
      '450 4.7.1 <ada@example.net>: Recipient address rejected: Policy Rejection- Quota Exceeded.',
    ],
    ['OVH', /sorry, too many e-?mails/i, '550 sorry, too many emails (#5.7.1)'],
    [
      'cPanel',
      /exceeded (your|the) (max|sending)/i,
      '550 Domain example.com has exceeded the max defers and failures per hour (5/5 (100%)) allowed. Message discarded.',
    ],
    [
      'QQ',
      /frequency (limited|of receiving messages is limited)/i,
      '550 Connection frequency limited. http://service.mail.qq.com/',
    ],
    ['Barracuda', /rate control/i, '450 4.7.1 Client host rejected: Rate control, try again later'],
    ['Proofpoint', /throttl(ed|ing)/i, '421 Connection throttled, please try again later'],
    [
      'Orange',
      /trop de connexions/i,
      '550 Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. OFR004_104 [104]',
    ],
    [
      'NetEase',
      /\b(MI:(CCL|CEL|DMC|SFQ)|RP:(CCL|CEL|DRC|TRC)|HL:I[CF]C)\b/,
      '550 RP:TRC 163 mx12,NsCowAB3k5Nz',
    ],
    [
      'Cox',
      /connection limit|smtp sessions for this host/i,
      '550 cox.net: all available IPs are at maximum connection limit',
    ],
  ]),
  ...known('mailbox_full', [
    [
      'Gmail',
      /over (its )?(disk )?quota|out of storage/i,
      '452 4.2.2 The recipient’s inbox is out of storage space and inactive. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaTemp',
    ],
    [
      'Exim',
      /(quota|storage) (is )?exceeded|exceeded (the )?(storage|quota|mailbox limit)|over its storage limit/i,
      '552 Mailbox quota exceeded',
    ],
    [
      'Dovecot',
      /mailbox (is )?full|mail ?box.*(full|exceeded)/i,
      '552 5.2.0 <ada@example.net> Mailbox is full',
    ],
    ['Apple', /user is over quota|overquota/i, '552 <ada@icloud.com>: user is over quota'],
    [
      'Orange',
      /destinataire pleine/i,
      '552 5.1.1 Boite du destinataire pleine. Recipient overquota. OFR_417 [417]',
    ],
    [
      'Yahoo',
      /account (is )?(over|full)|insufficient (disk )?space for (the )?(user|mailbox)/i,
      '552 1 Requested mail action aborted, account over quota',
    ],
    [
      'web.de',
      /speichervolumen (ue|ü)berschritten|exhausted allowed storage/i,
      '550 Benutzer hat das Speichervolumen ueberschritten. / User has exhausted allowed storage space.',
    ],
    ['Sendmail', /can.t create (user )?output/i, '550 5.0.0 <ada@example.net>... Can’t create output'],
    [
      'Exim',
      /quota violation|(exceeding|over) (its|their|the|his|her) (\w+ )?quota|disk quota/i,
      '550 (Mailbox) Quota Violation',
    ],
    ['GoDaddy', /account storage limit/i, '552 Account storage limit'],
    [
      'various',
      /full mailbox|mail ?folder is full|mailbox .{1,320} is full/i,
      '551 bounce as<the destination mailbox <ada@example.net> is full>',
    ],
    [
      'various',
      /enough (storage )?space|exceed maximum allowed storage|space has been used up|(user|domain)disk quota/i,
      '550 <ada@example.net> does not have enough space',
    ],
  ]),
  ...known('size', [
    [
      'Postfix',
      /message size exceeds|exceeds (the )?(fixed )?(maximum )?(message )?size|message (file )?(is )?too (big|large)/i,
      '552 Message size exceeds fixed maximum message size',
    ],
    [
      'Exchange',
      /larger than the current system limit|message length exceeds/i,
      '550 Message length exceeds administrative limit',
    ],
    [
      'Mimecast',
      /max(imum)? (e?mail|message) size (is )?exceeded|exceeded maximum inbound message size|taille limite du message/i,
      '550 Maximum email size exceeded',
    ],
  ]),
  ...known('blocked', [
    [
      'various',
      /too many (invalid|unknown|bad) (recipients|users|commands)/i,
      '550 Too many invalid recipients',
    ],
    [
      'Spamhaus',
      /spamhaus|sorbs|spamcop|abuseat|uceprotect|invaluement|surbl|uribl|cloudmark/i,
      '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1',
    ],
    [
      'Microsoft',
      /S3140|S3150|part of their network is on our block ?list/i,
      '550 5.7.1 Unfortunately, messages from [192.0.2.1] weren’t sent. Please contact your Internet service provider since part of their network is on our block list (S3140). You can also refer your provider to http://mail.live.com/mail/troubleshooting.aspx#errors.',
    ],
    [
      'Microsoft',
      /banned send(ing|er)/i,
      '550 5.7.1 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/',
    ],
    [
      'Gmail',
      /very low reputation|low reputation of the sending/i,
      '550 5.7.1 Gmail has detected that this message is likely suspicious due to the very low reputation of the sending domain. To best protect our users from spam, the message has been blocked.',
    ],
    [
      'Gmail',
      /likely unsolicited mail/i,
      '550 5.7.1 [192.0.2.1] Our system has detected that this message is likely unsolicited mail. To reduce the amount of spam sent to Gmail, this message has been blocked.',
    ],
    [
      'Yahoo',
      /\[BL\d\d\]|\[TSS?09\]/i,
      '553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus’s list; see http://postmaster.yahoo.com/550-bl23.html',
    ],
    [
      'Apple',
      /blocked.*proofpoint|\[HM08\]|local policy.*\[(CS|HM)/i,
      '550 5.7.1 [HM08] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
    ],
    [
      'Proofpoint',
      /ipcheck\.proofpoint\.com/i,
      '550 5.7.0 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1',
    ],
    ['Proofpoint', /\bpdr(rbl)?\b|dynamic reputation/i, '554 Blocked - Proofpoint Dynamic Reputation PDR'],
    [
      'Barracuda',
      /barracuda(central|networks)|\breputation\b/i,
      '550 permanent failure for one or more recipients (ada@example.net:blocked) see http://www.barracudacentral.org/reputation?r=1&ip=192.0.2.1',
    ],
    [
      'Barracuda',
      /:blocked\)/i,
      '550 permanent failure for one or more recipients (ada@example.net:blocked)',
    ],
    [
      'Mimecast',
      /rejected by header based blocked|blocked senders? (list|policy)|blocked sender/i,
      '550 Rejected by header based Blocked Senders: ada@example.net - https://community.mimecast.com/docs/DOC-1369#550',
    ],
    [
      'Mimecast',
      /connecting ip.*(rejected|block)|ip (found on|in) (an? )?(rbl|block)/i,
      '550 csi.mimecast.org Poor Reputation Sender. - https://community.mimecast.com/docs/DOC-1369#550: connecting IP rejected',
    ],
    [
      'Cisco',
      /poor reputation|reputation score|SenderBase/i,
      '554 Your access to this mail system has been rejected due to the sending MTA’s poor reputation. If you believe that this failure is in error, please contact the intended recipient via alternate means.',
    ],
    [
      'QQ',
      /suspected (bounce attacks|spam ip)|connection denied/i,
      '550 Suspected bounce attacks. https://service.mail.qq.com/detail/122/57',
    ],
    [
      'AOL',
      /\bDNSBLs?\b|(HVU|RLY|CON):[BI]\d/i,
      '554 5.7.1 : (CON:B1) https://postmaster.aol.com/error-codes#554conb1',
    ],
    [
      'GMX',
      /bad dns ptr|bad reputation|nemesis.*rejected/i,
      '554 gmx.net (mxgmx016) Nemesis ESMTP Service not available No SMTP service Bad DNS PTR resource record.',
    ],
    [
      'Postfix',
      /client host.*(rejected|blocked)|blocked (using|by|for abuse)|block ?list|black ?list|denylist/i,
      '554 5.7.1 <unknown[192.0.2.1]>: Client host rejected: Access denied',
    ],
    [
      'Exim',
      /listed (in|at|on)|found (in|on) (a )?(dnsbl|rbl)/i,
      '550 JunkMail rejected - host.example.com [192.0.2.1]:41234 is in an RBL: listed in bl.example.org',
    ],
    [
      'Mail.ru',
      /access from ip address .{1,50} blocked|\bip (address )?(is |was )?(rejected|blocked|hangup)|\b(black|invalid) ip\b|bad ip profile/i,
      '550 Access from ip address 192.0.2.1 blocked. Visit http://help.mail.ru/notspam-support/',
    ],
    ['GoDaddy', /\bRBL (reject|deny)/i, '554 RBL Reject.'],
    ['NetEase', /\b(DT:RBL|HL:(REP|MEP)|MI:SPB|WM:BL[IU])\b/, '550 MI:SPB 163 mx12,NsCowAB3k5Nz'],
    [
      'Orange',
      /service refus[eé]|\bLPN105_\d/i,
      '550 5.5.0 Service refuse. Veuillez verifier votre configuration. OFR004_105',
    ],
    [
      'Cisco',
      /access to submit messages to this e-?mail system/i,
      '550 #5.7.1 Your access to submit messages to this e-mail system has been rejected.',
    ],
    [
      'various',
      /dynamic[- ]ip|allowed access from your location|received too many bounces/i,
      '550 dial-up or dynamic-ip denied',
    ],
    [
      'T-Online',
      /a problem occurred\. \(ask your postmaster/i,
      '554 IP=192.0.2.1 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify.)',
    ],
  ]),
  ...known('policy', [
    [
      'Gmail',
      /unauthenticated email|not pass authentication|\b(dmarc|spf|dkim)\b/i,
      '550 5.7.1 Unauthenticated email from example.com is not accepted due to domain’s DMARC policy. Please contact the administrator of example.com domain.',
    ],
    [
      'Yahoo',
      /not accepted for policy reasons|due to (local |security )?polic(y|ies)/i,
      '554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes',
    ],
    [
      'Postfix',
      /relay(ing)? (access )?(denied|not (permitted|allowed))|(unable|not permitted|not allowed) to relay|does not relay|rcpthosts/i,
      '554 5.7.1 <ada@example.net>: Relay access denied',
    ],
    // These say it of every recipient to whom they do not relay for us; Postfix, set up as in its own example for submission, while we are not logged in.
    [
      'Postfix',
      /<[^<>]*>: recipient address rejected: access denied/i,
      '554 5.7.1 <ada@example.net>: Recipient address rejected: Access denied',
    ],
    [
      'hMailServer',
      /delivery is not allowed to this address/i,
      '550 Delivery is not allowed to this address.',
    ],
    ['Haraka', /I cannot deliver mail for/i, '550 I cannot deliver mail for <ada@example.net>'],
    ['Stalwart', /relay not allowed/i, '550 5.1.2 Relay not allowed.'],
    [
      'cPanel',
      /outgoing mail (suspension|from .{1,320} suspended)/i,
      '550 Outgoing mail from "shop@example.com" has been suspended.',
    ],
    // The recipient, or their company, takes nothing from this sender.
    [
      'QQ',
      /mail is rejected by recipients/i,
      '550 Mail is rejected by recipients. https://service.mail.qq.com/detail/122/92',
    ],
    ['Zoho', /relaying disallowed/i, '553 Relaying disallowed as shop@example.com'],
    [
      'Exchange',
      /SMTPSEND\.|RESTRICTED|not allowed to send to|(do|does)(n.t| not) have permission/i,
      '550 5.7.1 RESOLVER.RST.NotAuthorized; not authorized; you don’t have permission to send to this recipient',
    ],
    [
      'Postfix',
      /not logged in|not owned by/i,
      '553 5.7.1 <shop@example.com>: Sender address rejected: not logged in',
    ],
    [
      'Mimecast',
      /administrative prohibition|anti-spoofing|manual envelope rejection/i,
      '550 Administrative prohibition - envelope blocked - https://community.mimecast.com/docs/DOC-1369#550',
    ],
    [
      'Exim',
      /sender verify failed|reverse (dns|lookup)|PTR record|HELO.*(invalid|rejected)/i,
      '550 Reverse DNS lookup failed for host 192.0.2.1',
    ],
    [
      'Aruba',
      /\b(by|for|to) (\w+ )?polic(y|ies)\b|polic(y|ies) (reasons|violation)|protocol violation|organi[sz]ational settings/i,
      '550 5.2.0 igxL1p00E1WDM2s01gxMXG policy violation',
    ],
    ['various', /(^|\d )access denied\b/i, '550 Access denied'],
    [
      'Sina',
      /relay check|den(y|ies) relay|not (a gateway|an open relay|configured to relay|local host)|handle mail for|rcpthost\b/i,
      '553 relay check local fail',
    ],
    [
      'Mimecast',
      /requires (encryption|tls|high-strength ciphers)/i,
      '550 This route requires encryption (TLS)',
    ],
    [
      'various',
      /closed mailing list|members-only|not (allowed to post|subscribed to this group)/i,
      '550 by non-member to a members-only list',
    ],
    [
      'Interia',
      /recipient (doesn.t want your mail|preferences)|requires that you verify/i,
      '550 5.7.1 Recipient doesn’t want your mail',
    ],
    ['Mimecast', /envelope blocked|senderfilterconfig/i, '550 Envelope blocked - User Entry'],
  ]),
  ...known('soft_bounce', [
    // Permanent by its code, but only because every attempt until then failed temporarily.
    [
      'Amazon SES',
      /message (has )?expired|queue\.expired|delivery (time )?expired/i,
      '550 4.4.7 Message expired: unable to deliver in 840 minutes.<421 4.4.0 Unable to lookup DNS for example.net>',
    ],
    ['Haraka', /tried all MXs/i, '550 Tried all MXs example.net'],
    [
      'Postgrey',
      /gr[ea]y-?list/i,
      '451 4.7.1 <ada@example.net>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.net.html',
    ],
    [
      'Microsoft',
      /\bS777\d\d\b|temporarily unavailable|server busy/i,
      '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77714)',
    ],
    [
      'Exchange',
      /hop count exceeded|too many hops|mail loop/i,
      '550 5.4.14 Hop count exceeded - possible mail loop ATTR1',
    ],
    [
      'Exim',
      /temporar(y|ily)|try (again )?later|please retry|timed? ?out/i,
      '451 Temporary local problem - please try later',
    ],
    [
      'Exim',
      /retry time(out)? (not reached|exceeded)|long (failure period|time)|in the queue too long|multiple retries|allowed queue period|numerous attempts|(not|n.t) (respond|reachable)/i,
      '550 retry time not reached for any host after a long failure period',
    ],
    [
      'Sendmail',
      /(configuration|config|internal|server|local|file write) error|error (in processing|while being processed)|interrupted system call|misconfigured/i,
      '554 5.3.5 Local configuration error',
    ],
    [
      'Postfix',
      /loops? (back to|was found|broken)|forwarding loop|routing loop/i,
      '554 5.4.6 <ada@example.net>: mail for example.net loops back to myself',
    ],
    [
      'Mimecast',
      /unable to process|currently unavailable|system (load|full)\b|too (busy|much load)|verification problem|unable to validate/i,
      '550 Unable to process an email at this time',
    ],
  ]),
  ...known('content', [
    ['in Polish', /anty?-?spam/i, '554 Wiadomosc zostala odrzucona przez system antyspamowy'],
    ['NetEase', /\b(DT:SPM|MI:STC)\b/, '554 DT:SPM 163 smtp11,D8CowAAXHZ'],
    ['ClamAV', /virus|malware|infected/i, '554 5.7.1 Message contains a virus: Eicar-Test-Signature'],
    [
      'Gmail',
      /content presents a potential security issue|blocked for its content|malicious/i,
      '552 5.7.0 This message was blocked because its content presents a potential security issue. Please visit https://support.google.com/mail/?p=BlockedMessage',
    ],
    [
      'SpamAssassin',
      /\bspam\b|spammy|\bUCE\b|unsolicited|junk/i,
      '554 5.7.1 Message rejected: identified as spam',
    ],
    [
      'Amavis',
      /message content rejected|content (was )?rejected|content restrictions|objectionable/i,
      '554 5.6.0 Message content rejected, id=12345-01',
    ],
    [
      'Symantec',
      /message filtered/i,
      '553 Message filtered. Refer to the Troubleshooting page at http://www.symanteccloud.com/troubleshooting for more information. (#5.7.1)',
    ],
    [
      'QQ',
      /mail content denied/i,
      '550 Mail content denied. https://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000726',
    ],
    ['Orange', /ofr_?506/i, '550 5.2.0 Mail rejete. Mail rejected. ofr_506 [506]'],
    [
      'Gmail',
      /not RFC 5322 compliant|multiple .?from.? headers|duplicate headers/i,
      '550 5.7.1 This message is not RFC 5322 compliant. There are multiple ’From’ headers. To reduce the amount of spam sent to Gmail, this message has been blocked.',
    ],
    [
      'Exim',
      /content reject|mail rejete|\bmime (headers|complexity)|header (error|size|are not accepted)|8-bit data|base64 encoding|binary content/i,
      '550 Content reject',
    ],
  ]),
  ...known('sender', [
    [
      'Amazon SES',
      /email address is not verified/i,
      '554 Message rejected: Email address is not verified. The following identities failed the check in region EU-WEST-1: shop@example.com',
    ],
    [
      'SendGrid',
      /not match a verified sender/i,
      '550 The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved.',
    ],
    [
      'Microsoft',
      /SendAsDenied/,
      '554 5.2.252 SendAsDenied; relay@example.com not allowed to send as shop@example.com; STOREDRV.Submission.Exception:SendAsDeniedException.MapiExceptionSendAsDenied',
    ],
    [
      'Postfix',
      /sender (address )?(is )?(rejected|not allowed)/i,
      '550 5.1.0 <shop@example.com>: Sender address rejected: User unknown in virtual mailbox table',
    ],
    [
      'Postmark',
      /not a sender signature/i,
      '550 The ’From’ address you supplied (shop@example.com) is not a Sender Signature on your account.',
    ],
    ['Laposte.net', /emetteur invalide/i, '550 5.1.8 Emetteur invalide. Invalid Sender. LPN007_405'],
    ['SoftBank', /(^|\d )([\w-]{1,63}\.){1,8}[a-z]{2,} does not exist$/i, '553 example.com does not exist'],
  ]),
  ...known('unknown_user', [
    [
      'Gmail',
      /(email )?account that you tried to reach does not exist/i,
      '550 The email account that you tried to reach does not exist. Please try double-checking the recipient’s email address for typos or unnecessary spaces.',
    ],
    [
      'Microsoft',
      /mailbox unavailable.*\(S20\d+\)/i,
      '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).',
    ],
    [
      'Microsoft',
      /recipient address rejected: access denied/i,
      '550 5.4.1 Recipient address rejected: Access denied. [BN7NAM10FT012.eop-nam10.prod.protection.outlook.com]',
    ],
    [
      'Yahoo',
      /doesn.t have a (yahoo|aol)[\w.]* account|dd (requested mail action aborted|this user)/i,
      '554 delivery error: dd This user doesn’t have a yahoo.com account (ada@yahoo.com) [0] - mta4001.mail.ne1.yahoo.com',
    ],
    [
      'Postfix',
      /user unknown|unknown user|no such (user|recipient|mailbox|account|address|person)/i,
      '550 <ada@example.net>: Recipient address rejected: User unknown in local recipient table',
    ],
    [
      'Exim',
      /unrouteable address|(address|user|recipient|mailbox|account) (does not|doesn.t) exist/i,
      '550 Unrouteable address',
    ],
    [
      'Exchange',
      /RecipientNotFound|recipient not found/i,
      '550 5.7.1 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
    ],
    [
      'Exim',
      /no (mailbox|account) (here )?by that name|not a valid mailbox|addressee unknown|(invalid|unknown|bad) (recipient|mailbox|address|local[- ]part)/i,
      '550 Sorry, no mailbox here by that name. (#5.1.1)',
    ],
    [
      'Proofpoint',
      /user (not found|unknown)|(recipient|user) (is )?(not (known|valid)|unknown|invalid)/i,
      '550 User Not Found',
    ],
    [
      'Mimecast',
      /invalid recipient/i,
      '550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550',
    ],
    ['Barracuda', /no such user|mailbox not found/i, '550 No such user (ada@example.net)'],
    ['Interia', /account not found/i, '550 5.1.1 Account not found'],
    ['web.de', /benutzer nicht bekannt|adressat unbekannt/i, '550 Benutzer nicht bekannt/User unknown'],
    [
      'Orange',
      /destinataire (invalide|inconnu)|utilisateur inconnu/i,
      '550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]',
    ],
    [
      'in Italian',
      /destin(\.|atario) (sconosciuto|errato)|indirizzo inesistente|nessun utente simile/i,
      '550 Destinatario sconosciuto o mailbox disatttivata',
    ],
    ['in Spanish', /no existe (ese usuario|dicha persona)/i, '550 no existe ese usuario'],
    ['in Polish', /nie ma takiego konta|\bkonto\b.{0,80} nie istnieje/i, '554 Nie ma takiego konta'],
  ]),
  ...known('hard_bounce', [
    [
      'Gmail',
      /account that you tried to reach is (disabled|inactive)/i,
      '550 The email account that you tried to reach is inactive. For more information, go to https://support.google.com/mail/?p=DisabledUser',
    ],
    [
      'Yahoo',
      /(account|mailbox|user) (has been |is )?(disabled|discontinued|suspended|deactivated|inactive|closed)/i,
      '554 delivery error: dd Sorry your message to ada@yahoo.com cannot be delivered. This account has been disabled or discontinued [#102].',
    ],
    [
      'Postfix',
      /(host or )?domain (name )?(not found|does not (exist|accept))|no such domain/i,
      '550 <ada@example.invalid>: Recipient address rejected: Domain not found',
    ],
    [
      'Postfix',
      /does not accept mail \(nullMX\)/i,
      '556 5.1.0 Domain example.invalid does not accept mail (nullMX)',
    ],
    [
      'Exim',
      /MX or SRV record indicated no SMTP service|MX records point to non-existent hosts/i,
      '554 5.0.0 all relevant MX records point to non-existent hosts',
    ],
    [
      'in Polish',
      /konto jest zablokowane/i,
      '550 Podane konto jest zablokowane administracyjnie lub nieaktywne',
    ],
    ['in Italian', /indirizzo e. bloccato/i, '550 Questo indirizzo e’ bloccato per inutilizzo'],
    [
      'in Spanish',
      /casilla ha expirado|usuario esta en estado: inactivo/i,
      '550 El usuario esta en estado: inactivo',
    ],
    [
      'Orange',
      /destinataire archivee/i,
      '550 Boite du destinataire archivee. Archived recipient. OFR_415 [415]',
    ],
    [
      'Mail.ee',
      /user is terminated|(deactivated|disabled) mailbox|mailbox is frozen|inactive user/i,
      '554 5.2.1 Inactive user',
    ],
  ]),
  // The last, because what was said about the recipient before says more.
  ...known('content', [
    [
      'Orange',
      /\b(message|e?-?mail) (has been |is |was )?(rejected|refused|denied|blocked)\b/i,
      '550 5.2.0 Mail rejete. Mail rejected. OUK_513',
    ],
    ['Exim', /message headers fail syntax check/i, '550 Message headers fail syntax check'],
    ['Exim', /\battachments?\b/i, '550 We do not accept ".exe" attachments here.'],
  ]),
];

/** The first known reply that matches `text`. */
export function knownReply(text: string): KnownReply | undefined {
  return KNOWN_REPLIES.find((reply) => reply.text.test(text));
}
