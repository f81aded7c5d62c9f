import { found, missing, type RecordVerdict, wrong } from './record-state.ts';
import { faultInSpelling } from './record-spelling.ts';

/** Whether the relay may send, according to the TXT records of a domain; `include` is undefined while the operator has not configured it. */
export function spfVerdict(values: readonly string[], include: string | undefined): RecordVerdict {
  const records = values.filter((value) => /^v=spf1(?: |$)/i.test(value));
  if (records.length === 0) return withoutRecord(values, include);
  if (records.length > 1) {
    return wrong(`There are ${records.length} SPF records, so receivers take none of them; make one of them`);
  }
  if (include === undefined)
    return found('There is an SPF record; check that it names the servers of your relay');
  const { read, all } = termsOf(records[0]!);
  if (read.includes(`include:${include.toLowerCase()}`)) return found('The relay may send');
  if (all === 'all') {
    return wrong(
      `The SPF record lets every server send in the name of the domain; put \`include:${include}\` before its \`all\`, and make that \`~all\``,
    );
  }
  const place = all === undefined ? 'its last part' : `its \`${all}\``;
  return wrong(`The SPF record does not let the relay send; put \`include:${include}\` before ${place}`);
}

function withoutRecord(values: readonly string[], include: string | undefined): RecordVerdict {
  const misspelt = values.find((value) => /^["'\s]*(?:v ?= ?)?spf1?\b/i.test(value));
  if (misspelt !== undefined) {
    const fault = faultInSpelling(misspelt) ?? 'does not begin with `v=spf1` and a space';
    return wrong(`Receivers ignore the SPF record, because it ${fault}`);
  }
  return missing(
    include === undefined
      ? 'There is no SPF record; set one that names the servers of your relay, as its operator says'
      : 'There is no SPF record; set one with this value',
  );
}

/** The terms of an SPF record in lower case, without the default qualifier `+` and a trailing dot. */
function termsOf(record: string): { readonly read: readonly string[]; readonly all: string | undefined } {
  const terms = record.split(/ +/).map((term) => term.toLowerCase().replace(/^\+|\.$/g, ''));
  const end = terms.findIndex((term) => /^[-~?]?all$/.test(term));
  // `all` matches every server, so receivers do not read what follows it (RFC 7208, section 5.1).
  return end === -1 ? { read: terms, all: undefined } : { read: terms.slice(0, end), all: terms[end] };
}
