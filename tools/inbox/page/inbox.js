// Everything from a mail is inserted as text; its HTML is shown in a frame that can neither run scripts nor load anything.
const MAX_SHOWN = 200;
/** Changes within this time cause only one request for the list. */
const REFRESH_AFTER_MS = 150;

const [list, pane, search, count] = ['list', 'mail', 'search', 'count'].map((id) =>
  document.getElementById(id),
);

/** An element with properties and children; strings become text, never markup. */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes('-') || key === 'role') made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

const selectedId = () => location.hash.slice(1);
const ask = async (path) => (await fetch(path)).json();
const address = (id, part = '') => `/api/messages/${encodeURIComponent(id)}${part}`;

function row({ id, subject, from, envelope, receivedAt }) {
  const when = element('time', { dateTime: receivedAt }, new Date(receivedAt).toLocaleString());
  const link = element(
    'a',
    { 'href': `#${id}`, 'aria-current': String(id === selectedId()) },
    element('span', { className: 'subject' }, subject || '(no subject)'),
    element('span', {}, `to ${envelope.to.join(', ')}`),
    element('span', { className: 'quiet' }, from || envelope.from || '(nobody)'),
    when,
  );
  return element('li', {}, link);
}

async function showList() {
  const words = search.value;
  const query = `limit=${MAX_SHOWN}&search=${encodeURIComponent(words)}`;
  const found = await ask(`/api/messages?${query}`).catch(() => undefined);
  if (found === undefined) return sayAway();
  // The user has typed more meanwhile; the answer to the newer search is still to come.
  if (words !== search.value) return;
  const focused = list.contains(document.activeElement) ? document.activeElement.hash : undefined;
  list.replaceChildren(...found.messages.map(row));
  if (focused !== undefined) [...list.querySelectorAll('a')].find(({ hash }) => hash === focused)?.focus();
  if (found.messages.length === 0) {
    const why = found.total === 0 ? 'No mail yet. It appears here by itself.' : 'No mail matches.';
    list.append(element('li', { className: 'empty' }, why));
  }
  count.textContent = countOf(found);
}

/** How many mails there are, match, and are shown, as far as these differ. */
function countOf({ messages, matching, total }) {
  const all = matching === total ? (total === 1 ? '1 mail' : `${total} mails`) : `${matching} of ${total}`;
  return messages.length < matching ? `${all}, the newest ${messages.length} shown` : all;
}

function sayAway() {
  count.textContent = 'The inbox does not answer; this is what it had.';
}

function facts(pairs) {
  const rows = pairs.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]);
  return element('dl', {}, ...rows);
}

const VIEWS = {
  HTML: (mail) =>
    mail.html === undefined
      ? element('p', { className: 'quiet' }, 'This mail has no HTML part.')
      : element('iframe', {
          sandbox: 'allow-popups allow-popups-to-escape-sandbox',
          title: 'HTML part',
          src: address(mail.id, '/html'),
        }),
  Text: (mail) => element('pre', {}, mail.text ?? 'This mail has no text part.'),
  Headers: (mail) => facts(mail.headers.map(({ name, value }) => [name, value])),
  Envelope: ({ envelope, receivedAt, size, attachments }) =>
    facts([
      ['MAIL FROM', `<${envelope.from}>`],
      ...envelope.to.map((to) => ['RCPT TO', `<${to}>`]),
      ['EHLO', envelope.helo ?? ''],
      ['Received', receivedAt],
      ['Size', `${size} bytes`],
      ...attachments.map(({ filename, mimeType, size: bytes }) => [
        'Attachment',
        `${filename} (${mimeType}, ${bytes} bytes)`,
      ]),
    ]),
  Source: async (mail) => element('pre', {}, await (await fetch(address(mail.id, '/source'))).text()),
};

function tabs(mail) {
  const view = element('div', { role: 'tabpanel', className: 'view' });
  view.style.display = 'contents';
  const bar = element('div', { role: 'tablist' });
  let chosen;
  const choose = async (name) => {
    chosen = name;
    for (const tab of bar.children) {
      tab.setAttribute('aria-selected', String(tab.textContent === name));
      tab.tabIndex = tab.textContent === name ? 0 : -1;
    }
    view.ariaLabel = name;
    const shown = await VIEWS[name](mail);
    if (chosen === name) view.replaceChildren(shown);
  };
  bar.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const all = [...bar.children];
    const next = all.at((all.indexOf(document.activeElement) + step) % all.length);
    next.focus();
    void choose(next.textContent);
  });
  for (const name of Object.keys(VIEWS)) {
    bar.append(element('button', { type: 'button', role: 'tab', onclick: () => choose(name) }, name));
  }
  void choose(mail.html === undefined ? 'Text' : 'HTML');
  return [bar, view];
}

async function showMail() {
  const id = selectedId();
  document.body.classList.toggle('reading', id !== '');
  for (const link of list.querySelectorAll('a'))
    link.setAttribute('aria-current', String(link.hash === `#${id}`));
  if (id === '') return pane.replaceChildren(element('p', { className: 'empty' }, 'Choose a mail.'));
  const response = await fetch(address(id)).catch(() => undefined);
  const mail = response?.ok ? await response.json() : undefined;
  // Another mail was chosen meanwhile; its answer may have arrived first.
  if (id !== selectedId()) return;
  const back = element('a', { href: '#', className: 'back' }, '← All mails');
  if (mail === undefined) {
    const why = response === undefined ? 'The inbox does not answer.' : 'This mail is gone.';
    return pane.replaceChildren(back, element('p', { className: 'empty' }, why));
  }
  const about = facts([
    ['From', mail.from],
    ['To', mail.to],
    ['Date', new Date(mail.receivedAt).toLocaleString()],
  ]);
  pane.replaceChildren(back, element('h2', {}, mail.subject || '(no subject)'), about, ...tabs(mail));
}

let planned;
function plan() {
  planned ??= setTimeout(() => {
    planned = undefined;
    void showList();
  }, REFRESH_AFTER_MS);
}

document.getElementById('clear').addEventListener('click', async () => {
  if (!confirm('Delete all mails?')) return;
  await fetch('/api/messages', { method: 'DELETE' });
  location.hash = '';
});
search.addEventListener('input', plan);
addEventListener('hashchange', showMail);
const changes = new EventSource('/api/changes');
changes.addEventListener('message', plan);
changes.addEventListener('open', plan);
changes.addEventListener('error', sayAway);
await showList();
await showMail();
