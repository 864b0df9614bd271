import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import type { NoAnswer, Outgoing, OutgoingAnswer } from "./outgoing_request.ts";
import { withoutSlashesAtEnd } from "./trailing_slashes.ts";

export interface S3Credentials {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A bucket, addressed by path, which AWS and all other S3 stores understand. */
export interface S3Bucket extends S3Credentials {
  /** For example `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly bucket: string;
}

export interface S3 {
  put(
    key: string,
    body: Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): Promise<OutgoingAnswer | NoAnswer>;
  /** `range` is the value of the header Range, such as `bytes=0-99`. */
  get(key: string, range?: string): Promise<OutgoingAnswer | NoAnswer>;
  delete(key: string): Promise<OutgoingAnswer | NoAnswer>;
}

/** The requests that a bucket needs, sent by `send`. */
export function createS3(bucket: S3Bucket, send: Outgoing, now: () => Date): S3 {
  const base = `${withoutSlashesAtEnd(bucket.endpoint)}/${encoded(bucket.bucket)}`;

  async function request(
    method: string,
    key: string,
    headers: Readonly<Record<string, string>>,
    body?: Uint8Array,
  ): Promise<OutgoingAnswer | NoAnswer> {
    const segments = key.split("/");
    // A URL would drop these segments.
    if (segments.some((segment) => ["", ".", ".."].includes(segment))) {
      return { error: "This object name is not allowed", isFinal: true };
    }
    const url = `${base}/${segments.map(encoded).join("/")}`;
    if (!URL.canParse(url)) return { error: "The URL is not allowed", isFinal: true };
    const signed = signedHeaders({ method, url, headers, body }, bucket, now());
    return await send({ method, url, headers: signed, body });
  }

  return {
    put: (key, body, headers = {}) => request("PUT", key, headers, body),
    get: (key, range) => request("GET", key, range === undefined ? {} : { Range: range }),
    delete: (key) => request("DELETE", key, {}),
  };
}

interface Signable {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** Returns the headers, and adds those that sign the request: AWS Signature Version 4 for S3. */
export function signedHeaders(
  { method, url, headers, body }: Signable,
  { region, accessKeyId, secretAccessKey }: S3Credentials,
  now: Date,
): Record<string, string> {
  const { host, pathname, searchParams } = new URL(url);
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const digest = createHash("sha256").update(body ?? new Uint8Array()).digest("hex");
  const all = { ...headers, "x-amz-content-sha256": digest, "x-amz-date": time };
  const signed = Object.entries({ ...all, host })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, " ")])
    .sort(byName);
  const names = signed.map(([name]) => name).join(";");
  const query = [...searchParams]
    .map(([name, value]) => [encoded(name), encoded(value)])
    .sort(byName)
    .map((pair) => pair.join("="))
    .join("&");
  const canonical = [
    method,
    pathname,
    query,
    ...signed.map((pair) => pair.join(":")),
    "",
    names,
    digest,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = [
    "AWS4-HMAC-SHA256",
    time,
    scope,
    createHash("sha256").update(canonical).digest("hex"),
  ].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<Uint8Array>(
    (previous, part) => createHmac("sha256", previous).update(part).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
  const signature = createHmac("sha256", key).update(toSign).digest("hex");
  return {
    ...all,
    Authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, ` +
      `SignedHeaders=${names}, Signature=${signature}`,
  };
}

function byName([a]: string[], [b]: string[]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Encodes everything but letters, digits and -._~ as AWS expects. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Writes an id as a part of an object key, like archive_tenant_name in the database. Letters that every store accepts
 * stay. Other bytes become ! and hex. An id that gets too long becomes !! and a digest.
 */
export function nameInKeys(id: string): string {
  const hexOf = (byte: number) => `!${byte.toString(16).padStart(2, "0").toUpperCase()}`;
  const name = [...id].map((letter, n) =>
    /^[A-Za-z0-9_@-]$/.test(letter) || letter === "." && n > 0
      ? letter
      : [...new TextEncoder().encode(letter)].map(hexOf).join("")
  ).join("");
  return name.length > 500 ? `!!${createHash("sha256").update(id).digest("hex")}` : name;
}
