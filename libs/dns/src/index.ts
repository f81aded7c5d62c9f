export { DnsResolver, type DnsResolverOptions } from './dns-resolver.ts';
