import { readdir, readFile } from 'node:fs/promises';
import { Logger } from '@nestjs/common';

/** The share of the limit above which a warning is logged. */
const WARNING_SHARE = 0.8;
const EXHAUSTED_CODES: readonly unknown[] = ['EMFILE', 'ENFILE'];
const NONE_LEFT =
  'ALARM: no file descriptors are left: incoming connections are dropped, and none can be opened; raise the limit (ulimit -n)';

/** The open file descriptors of this process and their limit; undefined: there is none left even to find out. */
export type OpenFiles = { readonly open: number; readonly max: number } | undefined;

/** @throws on systems other than Linux */
export async function readOpenFiles(): Promise<OpenFiles> {
  try {
    const limits = await readFile('/proc/self/limits', 'utf8');
    const max = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
    // One of them is the directory that is being read.
    return { open: (await readdir('/proc/self/fd')).length - 1, max };
  } catch (error) {
    if (EXHAUSTED_CODES.includes((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}

/** Logs that file descriptors are running out. Nothing else would: the system drops connections without telling the server. */
export class OpenFilesWatch {
  private readonly logger = new Logger('Health');
  /** The severity that was logged last; 0: none. */
  private reportedLevel = 0;

  constructor(private readonly read: () => Promise<OpenFiles> = readOpenFiles) {}

  /** Checks once, and logs if it has become worse or is fine again. Does nothing where the system does not provide the numbers; never rejects. */
  async checkOnce(): Promise<void> {
    const files = await this.read().catch(() => 'unknown' as const);
    if (files === 'unknown') return;
    if (files === undefined) this.tell(2, (logger) => logger.error(NONE_LEFT));
    else if (files.open > files.max * WARNING_SHARE)
      this.tell(1, (logger) =>
        logger.warn(`${files.open} of ${files.max} file descriptors are in use: raise the limit (ulimit -n)`),
      );
    else if (this.reportedLevel > 0) {
      this.reportedLevel = 0;
      this.logger.log('enough file descriptors are free again');
    }
  }

  private tell(level: number, say: (logger: Logger) => void): void {
    if (level <= this.reportedLevel) return;
    this.reportedLevel = level;
    say(this.logger);
  }
}
