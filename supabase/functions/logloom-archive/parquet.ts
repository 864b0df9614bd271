import { gunzipSync, gzipSync } from "node:zlib";
import {
  type FileMetaData,
  parquetMetadata,
  type ParquetParsers,
  parquetRead,
  type SchemaElement,
} from "hyparquet";
import { ByteWriter, type ColumnSource, parquetWrite } from "hyparquet-writer";
import { type Columns, type KeyColumn, type KeyKind, textColumns } from "./columns.ts";

/** The version of the files' layout. */
export const formatVersion = "1";

export interface FileLabel {
  readonly tenant_id: string;
  readonly part_id: string;
  readonly first_day: string;
  readonly last_day: string;
  readonly generation: number;
}

/** The types of columns for a key of attrs. */
const types: Readonly<Record<Exclude<KeyKind, "integer" | "exact">, ColumnSource["type"]>> = {
  string: "STRING",
  number: "DOUBLE",
  boolean: "BOOLEAN",
  json: "STRING",
};

/** A column, with its scale if it is DECIMAL. */
type Column = ColumnSource & { readonly scale?: number };

/** Records as a Parquet file, in one row group. */
export function encodeFile(columns: Columns, label: FileLabel): Uint8Array {
  const instants = (values: readonly number[]) => values.map(BigInt);
  const columnData: Column[] = [
    { name: "id", data: [...columns.id], type: "UUID", nullable: false, encoding: "PLAIN" },
    { name: "ts", data: instants(columns.ts), nullable: false, encoding: "DELTA_BINARY_PACKED" },
    { name: "received_at", data: instants(columns.received_at), nullable: false },
    ...textColumns.map((name): ColumnSource => ({
      name,
      data: [...columns[name]],
      type: "STRING",
      // This encoding leaves out the beginning that a message shares with the previous one.
      ...name === "msg" && { encoding: "DELTA_BYTE_ARRAY" },
    })),
    ...columns.attrs.map(columnOf),
    { name: "attrs", data: [...columns.rest], type: "STRING" },
  ];
  const writer = new ByteWriter();
  parquetWrite({
    writer,
    columnData: columnData.map(({ type: _, scale: __, ...column }) => column),
    schema: [{ name: "records", num_children: columnData.length }, ...columnData.map(schemaOf)],
    codec: "GZIP",
    compressors: { GZIP: (bytes) => gzipSync(bytes, { level: 7 }) },
    rowGroupSize: Math.max(columns.id.length, 1),
    createdBy: "Logloom",
    kvMetadata: [
      { key: "logloom.format", value: formatVersion },
      { key: "logloom.label", value: JSON.stringify(label) },
      {
        key: "logloom.attrs",
        value: JSON.stringify(columns.attrs.map(({ key, kind }) => [key, kind])),
      },
    ],
  });
  return writer.getBytes();
}

function columnOf({ key, kind, values }: KeyColumn): Column {
  const name = `attrs.${key}`;
  if (kind === "exact") return { name, ...exact(values as readonly (string | null)[]) };
  if (kind !== "integer") return { name, data: [...values], type: types[kind] };
  const data = values.map((value) => value === null ? null : BigInt(value));
  return { name, data, type: "INT64", encoding: "DELTA_BINARY_PACKED" };
}

/** Numbers as texts become INT64 if all are integers that fit, otherwise DECIMAL. */
function exact(values: readonly (string | null)[]): Omit<Column, "name"> {
  const fractions = values.map((value) => value?.split(".")[1]?.length ?? 0);
  const scale = fractions.reduce((most, digits) => Math.max(most, digits), 0);
  const data = values.map((value, place) =>
    value === null ? null : BigInt(value.replace(".", "") + "0".repeat(scale - fractions[place]))
  );
  const isWhole = scale === 0 &&
    data.every((value) => value === null || BigInt.asIntN(64, value) === value);
  return isWhole ? { data, type: "INT64" } : { data, scale };
}

function schemaOf({ name, type, nullable, scale }: Column): SchemaElement {
  const repetition_type = nullable === false ? "REQUIRED" : "OPTIONAL";
  if (scale !== undefined) {
    return {
      name,
      type: "FIXED_LEN_BYTE_ARRAY",
      type_length: 16,
      repetition_type,
      converted_type: "DECIMAL",
      precision: 38,
      scale,
      logical_type: { type: "DECIMAL", precision: 38, scale },
    };
  }
  switch (type) {
    case undefined:
      return {
        name,
        type: "INT64",
        repetition_type,
        converted_type: "TIMESTAMP_MICROS",
        logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
      };
    case "UUID":
      return {
        name,
        type: "FIXED_LEN_BYTE_ARRAY",
        type_length: 16,
        repetition_type,
        logical_type: { type: "UUID" },
      };
    case "STRING":
      return {
        name,
        type: "BYTE_ARRAY",
        repetition_type,
        converted_type: "UTF8",
        logical_type: { type: "STRING" },
      };
    case "BOOLEAN":
    case "DOUBLE":
    case "INT64":
      return { name, type, repetition_type };
    default:
      throw new Error(`No column has the type ${type}`);
  }
}

const parsers: Partial<ParquetParsers> = { timestampFromMicroseconds: Number };

/** The records of a file that encodeFile has written. */
export async function decodeFile(bytes: Uint8Array): Promise<Columns> {
  const file = bytes.buffer.slice(
    bytes.byteOffset,
    bytes.byteOffset + bytes.byteLength,
  ) as ArrayBuffer;
  const metadata = parquetMetadata(file);
  if (noted(metadata, "logloom.format") !== formatVersion) {
    throw new Error("The file has another format");
  }
  const kinds = JSON.parse(noted(metadata, "logloom.attrs") ?? "[]") as [string, KeyKind][];
  const scales = new Map<string, number>();
  for (const column of metadata.schema) {
    if (column.converted_type !== "DECIMAL") continue;
    scales.set(column.name, column.scale ?? 0);
    // Otherwise the library would turn the digits into a double.
    column.converted_type = column.logical_type = undefined;
  }
  const found = new Map<string, unknown[]>();
  await parquetRead({
    file,
    metadata,
    parsers,
    compressors: { GZIP: (input) => new Uint8Array(gunzipSync(input)) },
    onChunk: ({ columnName, columnData }) => {
      const values = found.get(columnName) ?? [];
      for (const value of columnData) values.push(value ?? null);
      found.set(columnName, values);
    },
  });
  const values = <T>(name: string): T[] => {
    const all = found.get(name);
    if (all === undefined) throw new Error("The file lacks a column");
    return all as T[];
  };
  return {
    ...Object.fromEntries(textColumns.map((name) => [name, values(name)])) as unknown as Pick<
      Columns,
      typeof textColumns[number]
    >,
    id: values("id"),
    ts: values("ts"),
    received_at: values("received_at"),
    attrs: kinds.map(([key, kind]): KeyColumn => {
      const name = `attrs.${key}`;
      const read = kind === "integer" ? Number : digitsOf(scales.get(name) ?? 0);
      return {
        key,
        kind,
        values: kind === "integer" || kind === "exact"
          ? values<bigint | Uint8Array | null>(name).map((v) => v === null ? null : read(v))
          : values(name),
      };
    }),
    rest: values("attrs"),
  };
}

/** The text of an INT64, or of a DECIMAL of this scale without trailing zeros. */
function digitsOf(scale: number): (value: bigint | Uint8Array) => string {
  return (value) => {
    if (typeof value === "bigint") return String(value);
    const bytes = new DataView(value.buffer, value.byteOffset);
    const units = (bytes.getBigInt64(0) << 64n) + bytes.getBigUint64(8);
    const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0");
    const point = digits.length - scale;
    let end = digits.length;
    while (end > point && digits[end - 1] === "0") end--;
    const fraction = end > point ? `.${digits.slice(point, end)}` : "";
    return (units < 0n ? "-" : "") + digits.slice(0, point) + fraction;
  };
}

function noted(metadata: FileMetaData, name: string): string | undefined {
  return metadata.key_value_metadata?.find(({ key }) => key === name)?.value;
}
