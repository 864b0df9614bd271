import { Buffer } from "node:buffer";

/** A self-signed certificate for a host, and its key, both as PEM. */
export async function makeCertificate(
  hostname: string,
): Promise<{ certificate: string; key: string }> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const pair = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey));
  const privateKey = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));

  const ecdsaWithSha256 = sequence(der(0x06, "2a8648ce3d040302"));
  const name = sequence(der(0x31, sequence(der(0x06, "550403"), der(0x0c, text(hostname)))));
  const subjectAltName = sequence(
    der(0x06, "551d11"),
    der(0x04, sequence(der(0x82, text(hostname)))),
  );
  const content = sequence(
    der(0xa0, der(0x02, "02")),
    der(0x02, "01"),
    ecdsaWithSha256,
    name,
    sequence(der(0x17, text("200101000000Z")), der(0x17, text("491231235959Z"))),
    name,
    publicKey,
    der(0xa3, sequence(subjectAltName)),
  );
  const signature = new Uint8Array(
    await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, pair.privateKey, content),
  );
  const [r, s] = [signature.slice(0, 32), signature.slice(32)].map(integer);
  const certificate = sequence(content, ecdsaWithSha256, der(0x03, "00", sequence(r, s)));
  return { certificate: pem("CERTIFICATE", certificate), key: pem("PRIVATE KEY", privateKey) };
}

/** A DER value of ASN.1: tag, length, parts. Texts are hexadecimal digits. */
function der(tag: number, ...parts: (Uint8Array | string)[]): Uint8Array<ArrayBuffer> {
  const bytes = parts.flatMap((part) => [
    ...typeof part === "string" ? Buffer.from(part, "hex") : part,
  ]);
  const length = bytes.length < 128
    ? [bytes.length]
    : bytes.length < 256
    ? [0x81, bytes.length]
    : [0x82, bytes.length >> 8, bytes.length & 255];
  return new Uint8Array([tag, ...length, ...bytes]);
}

function sequence(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return der(0x30, ...parts);
}

/** Encodes an integer in DER: no leading zeros, except one that keeps the number positive. */
function integer(value: Uint8Array): Uint8Array {
  const first = value.findIndex((byte) => byte !== 0);
  const digits = value.slice(first);
  return digits[0] < 128 ? der(0x02, digits) : der(0x02, "00", digits);
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function pem(label: string, bytes: Uint8Array): string {
  const lines = Buffer.from(bytes).toString("base64").replace(/.{64}/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
