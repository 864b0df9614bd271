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

/** Of the files' layout: what a reader of ours must know. */
export const formatVersion = "1";

export interface FileLabel {
  readonly tenant_id: string;
  readonly part_id: string;
  readonly first_day: string;
  readonly last_day: string;
  readonly generation: number;
}

/** The types of columns for a key of attrs. */
const types: Readonly<Record<KeyKind, ColumnSource["type"]>> = {
  string: "STRING",
  integer: "INT64",
  number: "DOUBLE",
  boolean: "BOOLEAN",
  json: "STRING",
};

/** Records as a Parquet file, in one row group. */
export function encodeFile(columns: Columns, label: FileLabel): Uint8Array {
  const instants = (values: readonly number[]) => values.map(BigInt);
  const columnData: ColumnSource[] = [
    { name: "id", data: [...columns.id], type: "UUID", nullable: false, encoding: "PLAIN" },
    {
      name: "ts",
      data: instants(columns.ts),
      nullable: false,
      encoding: "DELTA_BINARY_PACKED",
    },
    {
      name: "received_at",
      data: instants(columns.received_at),
      nullable: false,
    },
    ...textColumns.map((name): ColumnSource => ({
      name,
      data: [...columns[name]],
      type: "STRING",
      // What it shares with the one before is left out.
      ...name === "msg" && { encoding: "DELTA_BYTE_ARRAY" },
    })),
    ...columns.attrs.map(({ key, kind, values }): ColumnSource => ({
      name: `attrs.${key}`,
      data: kind === "integer"
        ? values.map((value) => value === null ? null : BigInt(value))
        : [...values],
      type: types[kind],
      ...kind === "integer" && { encoding: "DELTA_BINARY_PACKED" },
    })),
    { name: "attrs", data: [...columns.rest], type: "STRING" },
  ];
  const writer = new ByteWriter();
  parquetWrite({
    writer,
    columnData: columnData.map(({ type: _, ...column }) => column),
    schema: [
      { name: "records", num_children: columnData.length },
      ...columnData.map(schemaOf),
    ],
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

function schemaOf({ name, type, nullable }: ColumnSource): SchemaElement {
  const repetition_type = nullable === false ? "REQUIRED" : "OPTIONAL";
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

const parsers: Partial<ParquetParsers> = {
  timestampFromMicroseconds: Number,
};

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
    attrs: kinds.map(([key, kind]): KeyColumn => ({
      key,
      kind,
      values: kind === "integer"
        ? values<bigint | null>(`attrs.${key}`).map((value) =>
          value === null ? null : Number(value)
        )
        : values(`attrs.${key}`),
    })),
    rest: values("attrs"),
  };
}

function noted(metadata: FileMetaData, name: string): string | undefined {
  return metadata.key_value_metadata?.find(({ key }) => key === name)?.value;
}
