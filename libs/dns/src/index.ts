export { DnsResolver } from './dns-resolver.ts';
export { systemAddresses } from './system-addresses.ts';
