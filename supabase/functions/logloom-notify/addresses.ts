import ipaddr from "ipaddr.js";

/** The only part of IPv6 from which public addresses are given out (RFC 4291, 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Whether an IP address is one of the public Internet, by IANA's registries of special addresses;
 * false for whatever is no IP address. IPv4 in the clothes of IPv6 is for use within a network.
 */
export function isPublicAddress(address: string): boolean {
  // Shorter, octal and hexadecimal forms are read in one way here and in another elsewhere.
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    return ipaddr.IPv4.parse(address).range() === "unicast";
  }
  if (!ipaddr.IPv6.isValid(address)) return false;
  const ipv6 = ipaddr.IPv6.parse(address);
  return ipv6.zoneId === undefined && ipv6.match(globalUnicast) && ipv6.range() === "unicast";
}
