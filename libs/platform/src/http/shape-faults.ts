import { ValidationPipe } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import type { ValidationError } from 'class-validator';

const MAX_FAULTS = 20;
const MAX_NAME_CHARS = 100;

/** Judges the shape of bodies and queries by their classes; unknown fields are refused, nothing is converted. */
export function shapePipe(): ValidationPipe {
  return new ValidationPipe({
    whitelist: true,
    forbidNonWhitelisted: true,
    transform: true,
    transformOptions: { enableImplicitConversion: false },
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => new Refusal(400, shapeFaults(errors)),
  });
}

/** One text for everything that is wrong: each fault names its field by its path (`emails[3].subject`), joined by `; `. */
export function shapeFaults(errors: readonly ValidationError[]): string {
  const faults = [...faultsBelow(errors, '')];
  const more = faults.length - MAX_FAULTS;
  if (more > 0) faults.splice(MAX_FAULTS, more, `and ${more} more`);
  return faults.join('; ');
}

function* faultsBelow(errors: readonly ValidationError[], parent: string): Generator<string> {
  for (const error of errors) {
    const path = pathOf(parent, error.property);
    for (const [rule, message] of Object.entries(error.constraints ?? {})) {
      yield rule === 'whitelistValidation'
        ? `\`${path}\` is not a known field; remove it or mend its name`
        : withPath(message, error.property, path);
    }
    yield* faultsBelow(error.children ?? [], path);
  }
}

function pathOf(parent: string, property: string): string {
  const name = property.slice(0, MAX_NAME_CHARS);
  if (/^\d+$/.test(name)) return `${parent}[${name}]`;
  return parent === '' ? name : `${parent}.${name}`;
}

/** class-validator's messages name the property alone; where one names nothing, the path goes in front. */
function withPath(message: string, property: string, path: string): string {
  if (message.startsWith(`\`${property}\``)) return `\`${path}\`${message.slice(property.length + 2)}`;
  const words = message.split(' ');
  const at = words.indexOf(property);
  if (at < 0) return `\`${path}\` ${message}`;
  words[at] = `\`${path}\``;
  return words.join(' ');
}
