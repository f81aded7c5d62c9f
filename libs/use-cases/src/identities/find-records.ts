import {
  type ExpectedRecord,
  type Misplacement,
  misplacedMessage,
  misplacements,
  type NamedAnswer,
  nearestAnswer,
  type RecordFinding,
  recordFinding,
  type RecordFindings,
  recordVerdict,
  type SpfReach,
  spfRecordsIn,
} from '@posthorn/domain';
import type { TxtResolver } from './txt-resolver.ts';
import { walkSpf } from './walk-spf.ts';

/** Looks up the DNS records of a domain, and compares them with those that it should have. */
export class FindRecords {
  constructor(private readonly resolver: TxtResolver) {}

  /** Concurrently: no look-up waits for the name server of another. */
  async find(domain: string, wanted: readonly ExpectedRecord[]): Promise<RecordFindings> {
    const found = wanted.map(async (record) => [record.name, await this.findRecord(domain, record)] as const);
    return Object.fromEntries(await Promise.all(found));
  }

  private async findRecord(domain: string, record: ExpectedRecord): Promise<RecordFinding> {
    const [own, ...above] = await Promise.all([
      this.ask(record.name),
      ...record.fallbackNames.map((name) => this.ask(name)),
    ]);
    const nearest = nearestAnswer([own, ...above]);
    const finding = recordFinding(record, nearest, await this.evaluate(record, nearest));
    if (finding.state !== 'MISSING' && finding.state !== 'WRONG') return finding;
    const misplaced = await this.findMisplaced(domain, record);
    return misplaced === undefined ? finding : { ...finding, message: misplacedMessage(record, misplaced) };
  }

  /** Undefined where there is no SPF record to evaluate. */
  private async evaluate(record: ExpectedRecord, { answer }: NamedAnswer): Promise<SpfReach | undefined> {
    if (record.purpose !== 'SPF' || record.include === undefined || answer.kind !== 'found') return undefined;
    const [spf, ...others] = spfRecordsIn(answer.values);
    return spf === undefined || others.length > 0 ? undefined : walkSpf(spf, record.include, this.resolver);
  }

  /** Only tells people what to fix: a record at another name proves nothing. */
  private async findMisplaced(domain: string, record: ExpectedRecord): Promise<Misplacement | undefined> {
    const places = misplacements(record, domain);
    const answers = await Promise.all(places.map(({ name }) => this.ask(name)));
    return places.find((_place, index) => recordVerdict(record, answers[index]!.answer).state === 'FOUND');
  }

  private async ask(name: string): Promise<NamedAnswer> {
    return { name, answer: await this.resolver.lookUpTxt(name) };
  }
}
