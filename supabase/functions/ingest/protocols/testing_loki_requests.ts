import { PbfWriter } from "pbf";

/** A line with its structured metadata. */
export type Entry = [line: string, metadata?: Record<string, string>];

/** A PushRequest in an uncompressed Snappy block. */
export function pushed(labels: string, entries: Entry[]): Uint8Array<ArrayBuffer> {
  const writer = new PbfWriter();
  writer.writeMessage(1, () => {
    writer.writeStringField(1, labels);
    for (const [line, metadata = {}] of entries) {
      writer.writeMessage(2, () => {
        writer.writeMessage(1, () => {
          writer.writeVarintField(1, 1795264496);
          writer.writeVarintField(2, 123456000);
        }, undefined);
        writer.writeStringField(2, line);
        for (const [name, value] of Object.entries(metadata)) {
          writer.writeMessage(3, () => {
            writer.writeStringField(1, name);
            writer.writeStringField(2, value);
          }, undefined);
        }
      }, undefined);
    }
  }, undefined);
  return snappyLiteral(writer.finish());
}

export function snappyLiteral(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const head: number[] = [];
  for (let rest = bytes.length; rest > 0; rest = Math.floor(rest / 128)) {
    head.push(rest % 128 + (rest >= 128 ? 128 : 0));
  }
  if (bytes.length === 0) return new Uint8Array([0]);
  const size = bytes.length - 1;
  return new Uint8Array([...head, 62 << 2, size & 255, (size >> 8) & 255, size >> 16, ...bytes]);
}
