import ipaddr from "ipaddr.js";

/** The only part of IPv6 with public addresses (RFC 4291, 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** The former 6bone, given back in 2006 (RFC 3701). ipaddr.js still counts it as public. */
const sixBone = ipaddr.IPv6.parseCIDR("3ffe::/16");

/**
 * Whether an IP address is on the public Internet, by IANA's registries of special addresses. False for any other text,
 * and for IPv4 embedded in IPv6, which is for use within a network.
 */
export function isPublicAddress(address: string): boolean {
  // Programs read short, octal and hexadecimal forms differently, so these are not accepted.
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    return ipaddr.IPv4.parse(address).range() === "unicast";
  }
  if (!ipaddr.IPv6.isValid(address)) return false;
  const ipv6 = ipaddr.IPv6.parse(address);
  return ipv6.zoneId === undefined && ipv6.match(globalUnicast) && !ipv6.match(sixBone) &&
    ipv6.range() === "unicast";
}
