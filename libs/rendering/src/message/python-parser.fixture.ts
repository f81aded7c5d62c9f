import { spawnSync } from 'node:child_process';

/** A message as Python's `email` reads it. */
export interface PythonReading {
  /** The names of the headers, in order. */
  readonly names: readonly string[];
  /** The headers that say one thing, unfolded and decoded. */
  readonly values: Readonly<Record<string, string>>;
  /** Name and address of each mailbox of From, To and Reply-To. */
  readonly mailboxes: Readonly<Record<string, readonly (readonly [string, string])[]>>;
  /** In milliseconds since the epoch. */
  readonly date: number;
  /** The types of the message and of the parts that have parts of their own, from the outside. */
  readonly types: readonly string[];
  readonly parts: readonly PythonPart[];
  readonly files: readonly PythonFile[];
  /** What is wrong with the message, by the parser. */
  readonly defects: readonly string[];
}

interface PythonPart {
  readonly type: string;
  readonly charset: string;
  readonly text: string;
}

interface PythonFile {
  readonly type: string;
  readonly name: string;
  readonly disposition: string;
  readonly contentId: string | null;
  /** In base64. */
  readonly content: string;
}

/**
 * Names and encoded words are read by the older functions of the module: the newer ones, of Python before 3.13, keep the folding between two
 * encoded words of a name, which RFC 2047 (section 6.2) has dropped. They only say what is wrong
 * with headers, of one message in twenty-five: they are slow. A local part beyond ASCII, which RFC 6531 allows, is a defect to them.
 */
const SCRIPT = `
import base64, email, email.policy, json, sys
from email.errors import NonASCIILocalPartDefect
from email.header import decode_header, make_header
from email.utils import getaddresses, parsedate_to_datetime

def unfolded(value):
    return str(value).replace('\\r\\n', '')

def decoded(value):
    return str(make_header(decode_header(value)))

def mailboxes(message, name):
    values = [unfolded(value) for value in message.get_all(name, [])]
    return [[decoded(name), address] for name, address in getaddresses(values)]

def header_defects(text):
    message = email.message_from_string(text, policy=email.policy.SMTPUTF8)
    return [f'{name}: {defect!r}' for name, value in message.items() for defect in value.defects
            if not isinstance(defect, NonASCIILocalPartDefect)]

def read(index, raw):
    # Headers beyond ASCII are UTF-8 (RFC 6532), which the older parser takes for bytes of an unknown script.
    head, end, body = raw.partition(b'\\r\\n\\r\\n')
    text = head.decode('utf-8') + end.decode() + body.decode('ascii')
    message = email.message_from_string(text)
    entities = list(message.walk())
    leaves = [entity for entity in entities if not entity.is_multipart()]
    parts = [leaf for leaf in leaves if leaf.get_content_disposition() is None]
    files = [leaf for leaf in leaves if leaf.get_content_disposition() is not None]
    defects = [defect for entity in entities for defect in entity.defects]
    return {
        'names': message.keys(),
        'values': {name: decoded(unfolded(value)) for name, value in message.items()
                   if name in ('Subject', 'Message-ID', 'List-Unsubscribe', 'List-Unsubscribe-Post')},
        'mailboxes': {name: mailboxes(message, name) for name in ('From', 'To', 'Reply-To')},
        'date': int(parsedate_to_datetime(message['Date']).timestamp() * 1000),
        'types': [entity.get_content_type() for entity in entities if entity.is_multipart()],
        'files': [{
            'type': file.get_content_type(),
            'name': file.get_filename(),
            'disposition': file.get_content_disposition(),
            'contentId': file.get('Content-ID'),
            'content': base64.b64encode(file.get_payload(decode=True)).decode(),
        } for file in files],
        'parts': [{
            'type': part.get_content_type(),
            'charset': part.get_content_charset(),
            'text': part.get_payload(decode=True).decode('utf-8'),
        } for part in parts],
        'defects': [repr(defect) for defect in defects] + (header_defects(text) if index % 25 == 0 else []),
    }

index = 0
while length := sys.stdin.buffer.read(4):
    raw = sys.stdin.buffer.read(int.from_bytes(length, 'big'))
    print(json.dumps(read(index, raw)))
    index += 1
`;

/** Why Python cannot be asked on this machine; undefined when it can. */
export function whyNoPython(): string | undefined {
  const { status } = spawnSync('python3', ['-c', 'import email, sys; sys.exit(sys.version_info < (3, 8))']);
  return status === 0 ? undefined : 'there is no Python 3.8 or newer on this machine (python3)';
}

/** Has Python's `email` read all of the messages, in one process. */
export function readByPython(messages: readonly Buffer[]): PythonReading[] {
  const input = Buffer.concat(messages.flatMap((message) => [lengthOf(message), message]));
  const { stdout, stderr, status } = spawnSync('python3', ['-c', SCRIPT], {
    input,
    maxBuffer: 512 * 1_048_576,
  });
  if (status !== 0) throw new Error(stderr.toString());
  return stdout
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as PythonReading);
}

function lengthOf(message: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.length);
  return length;
}
