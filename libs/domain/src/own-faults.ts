/** What this machine has run out of or lost, by the error codes of the system. Nobody at the other end can cause any of it. */
export const OWN_FAULTS: Readonly<Record<string, string>> = {
  EMFILE: 'this process has no file descriptors left',
  ENFILE: 'this machine has no file descriptors left',
  ENOBUFS: 'this machine has no room left for the data of connections',
  ENOMEM: 'this machine has no memory left for connections',
  ENETDOWN: 'the network of this machine is down',
};
