import { readdir, readFile } from 'node:fs/promises';
import { Logger } from '@nestjs/common';

/** Above this share of the limit it warns, while there is time to do something. */
const MANY = 0.8;
const USED_UP: readonly unknown[] = ['EMFILE', 'ENFILE'];
const NONE_LEFT =
  'ALARM: no file descriptors are left: incoming connections are dropped, and none can be opened; raise the limit (ulimit -n)';

/** Files and connections that a process has open, and may have; undefined: not even looking is possible, for want of one. */
export type OpenFiles = { readonly open: number; readonly max: number } | undefined;

/** @throws where the system does not say: it does on Linux alone */
export async function readOpenFiles(): Promise<OpenFiles> {
  try {
    const limits = await readFile('/proc/self/limits', 'utf8');
    const max = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
    // One of them is the folder that is being read.
    return { open: (await readdir('/proc/self/fd')).length - 1, max };
  } catch (error) {
    if (USED_UP.includes((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}

/** Says that file descriptors run out. Nobody else does: the system closes connections that it has none for, and no server hears of them. */
export class OpenFilesWatch {
  private readonly logger = new Logger('Health');
  /** How bad it was when it was last told; 0: not at all. */
  private told = 0;

  constructor(private readonly read: () => Promise<OpenFiles> = readOpenFiles) {}

  /** Looks once; tells what has become worse, and when all is well again. Where the system does not say there is nothing to tell; never rejects. */
  async look(): Promise<void> {
    const files = await this.read().catch(() => 'unknown' as const);
    if (files === 'unknown') return;
    if (files === undefined) this.tell(2, (logger) => logger.error(NONE_LEFT));
    else if (files.open > files.max * MANY)
      this.tell(1, (logger) =>
        logger.warn(`${files.open} of ${files.max} file descriptors are in use: raise the limit (ulimit -n)`),
      );
    else if (this.told > 0) {
      this.told = 0;
      this.logger.log('enough file descriptors are free again');
    }
  }

  private tell(level: number, say: (logger: Logger) => void): void {
    if (level <= this.told) return;
    this.told = level;
    say(this.logger);
  }
}
