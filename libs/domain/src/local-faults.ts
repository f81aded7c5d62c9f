/** System errors that this machine causes, not the other side, by their codes. */
export const LOCAL_FAULTS: Readonly<Record<string, string>> = {
  EMFILE: 'this process has no file descriptors left',
  ENFILE: 'this machine has no file descriptors left',
  ENOBUFS: 'this machine has no room left for the data of connections',
  ENOMEM: 'this machine has no memory left for connections',
  ENETDOWN: 'the network of this machine is down',
};
