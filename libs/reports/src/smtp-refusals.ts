/** An error reply as smtp-server expects it; the enhanced code (RFC 3463) is part of the text. */
function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}

/** The error replies. Temporary conditions are 4xx, so that the client retries. */
export const refusals = {
  tooManyConnections: () => refusal(421, '4.7.0 Too many connections from your address; come again later'),
  full: () => refusal(421, '4.3.2 Too many connections; come again later'),
  tooFast: () => refusal(421, '4.7.0 Too much mail from your address at once; come again later'),
  tooManyMistakes: () => refusal(421, '4.7.0 Too many recipients that do not exist'),
  tooManyCommands: () => refusal(421, '4.7.0 Too many commands without a mail'),
  leaving: () => refusal(421, '4.3.2 We are leaving; come again in a moment'),
  noSuchAddress: () => refusal(550, '5.1.1 No such address here'),
  tooLarge: () => refusal(552, '5.3.4 The message is too large'),
  tryAgain: () => refusal(451, '4.3.0 It cannot be recorded right now; come again later'),
} as const;
