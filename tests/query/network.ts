/** An address as a number of 32 or 128 bits. */
interface Address {
  bits: bigint;
  size: 32 | 128;
}

export interface Network extends Address {
  prefix: number;
}

function readIpv4(text: string): Address | null {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1);
  if (!parts?.every((part) => Number(part) < 256 && String(Number(part)) === part)) return null;
  return { bits: parts.reduce((bits, part) => bits * 256n + BigInt(part), 0n), size: 32 };
}

function readIpv6(text: string): Address | null {
  if (!/^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(text)) return null;
  let source = text;
  const tail = /[^:]*$/.exec(text)?.[0] ?? "";
  if (tail.includes(".")) {
    const low = readIpv4(tail);
    if (!low) return null;
    source = text.slice(0, -tail.length) +
      `${(low.bits >> 16n).toString(16)}:${(low.bits & 0xffffn).toString(16)}`;
  }
  const halves = source.split("::");
  if (halves.length > 2) return null;
  const groups = halves.map((half) => half === "" ? [] : half.split(":"));
  if (!groups.flat().every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return null;
  const missing = 8 - groups.flat().length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const all = [...groups[0], ...Array(missing).fill("0"), ...(groups[1] ?? [])];
  return { bits: all.reduce((bits, group) => bits * 65536n + BigInt(`0x${group}`), 0n), size: 128 };
}

/** Returns a network; null if the text does not look like one, undefined if it is an invalid one. */
export function readNetwork(text: string): Network | null | undefined {
  const [address, prefix] = text.split("/");
  if (/^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/.test(text)) {
    const read = readIpv4(address);
    return read && Number(prefix) <= 32 ? { ...read, prefix: Number(prefix) } : undefined;
  }
  if (!/^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\/\d{1,3}$/.test(text)) return null;
  const read = readIpv6(address);
  const isPrefix = String(Number(prefix)) === prefix && Number(prefix) <= 128;
  if (read && isPrefix) return { ...read, prefix: Number(prefix) };
  const isMeant = address.includes("::") ||
    /^([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$/.test(address);
  return isMeant ? undefined : null;
}

export function isAddressIn(text: string, network: Network): boolean {
  const address = readIpv4(text.replace(/:\d{1,5}$/, "")) ?? readIpv6(text);
  if (!address || address.size !== network.size) return false;
  const shift = BigInt(network.size - network.prefix);
  return address.bits >> shift === network.bits >> shift;
}
