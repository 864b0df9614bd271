/** Ranges of IPv4 that are not the public Internet: first address and length of the prefix. */
const reservedIpv4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/**
 * Ranges within 2000::/3, the only part of IPv6 that is public, that are not: protocol assignments
 * with Teredo, documentation, and 6to4, which holds an IPv4 address of anybody's choice.
 */
const reservedIpv6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

/** Whether an IP address is one of the public Internet; false for whatever is no IP address. */
export function isPublicAddress(address: string): boolean {
  const ipv4 = parseIpv4(address);
  if (ipv4 !== undefined) {
    return !reservedIpv4.some(([first, length]) => isWithin(ipv4, parseIpv4(first), length, 32));
  }
  const ipv6 = parseIpv6(address);
  // Everything else, IPv4 in the clothes of IPv6 too, is for use within a network.
  if (ipv6 === undefined || !isWithin(ipv6, parseIpv6("2000::"), 3, 128)) {
    return false;
  }
  return !reservedIpv6.some(([first, length]) => isWithin(ipv6, parseIpv6(first), length, 128));
}

function isWithin(
  address: bigint,
  first: bigint | undefined,
  length: number,
  bits: number,
): boolean {
  const rest = BigInt(bits - length);
  return first !== undefined && address >> rest === first >> rest;
}

function parseIpv4(text: string): bigint | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
    ?.slice(1).map(Number);
  if (parts === undefined || parts.some((part) => part > 255)) return undefined;
  return parts.reduce((value, part) => value << 8n | BigInt(part), 0n);
}

function parseIpv6(text: string): bigint | undefined {
  if (!text.includes(":")) return undefined;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const ipv4 = dotted === null ? undefined : parseIpv4(dotted[2]);
  if (dotted !== null && ipv4 === undefined) return undefined;
  const hex = ipv4 === undefined
    ? text
    : `${dotted?.[1]}${(ipv4 >> 16n).toString(16)}:${(ipv4 & 0xffffn).toString(16)}`;

  const halves = hex.split("::");
  if (halves.length > 2) return undefined;
  const [before, after = []] = halves.map((half) => half === "" ? [] : half.split(":"));
  const missing = 8 - before.length - after.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array<string>(missing).fill("0"), ...after];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) {
    return undefined;
  }
  return groups.reduce(
    (value, group) => value << 16n | BigInt(`0x${group}`),
    0n,
  );
}
