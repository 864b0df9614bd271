import type { PbfWriter } from "pbf";
import { markedNumber } from "./numbers.ts";

/** A value in the form of OTLP's JSON. A number too large for a double may be marked. */
export interface OtlpValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: unknown;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
  readonly kvlistValue?: { readonly values: readonly OtlpAttribute[] };
}

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

export function attributeIf(key: string, value: string | undefined): OtlpAttribute[] {
  return value === undefined ? [] : [{ key, value: { stringValue: value } }];
}

/** Attributes are at most 64 deep. */
export function anyValue(value: unknown): OtlpValue {
  switch (typeof value) {
    case "string": {
      const number = markedNumber(value);
      return number === undefined ? { stringValue: value } : numberValue(number, value);
    }
    case "number":
      return numberValue(String(value), value);
    case "boolean":
      return { boolValue: value };
  }
  if (value === null) return {};
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  const members = Object.entries(value as object);
  return { kvlistValue: { values: members.map(([key, one]) => ({ key, value: anyValue(one) })) } };
}

/** A number. OTLP writes 64-bit integers as strings. */
function numberValue(text: string, value: unknown): OtlpValue {
  return /^-?\d{1,18}$/.test(text) ? { intValue: text } : { doubleValue: value };
}

export function message(writer: PbfWriter, field: number, write: () => void): void {
  writer.writeMessage(field, write, undefined);
}

/** Replaces pbf's function, which goes through a double. */
export function writeFixed64(writer: PbfWriter, field: number, text: string): void {
  const value = BigInt.asUintN(64, BigInt(text));
  writer.writeTag(field, 1);
  writer.writeFixed32(Number(value & 0xffffffffn));
  writer.writeFixed32(Number(value >> 32n));
}

export function writeAttributes(
  writer: PbfWriter,
  field: number,
  attributes: readonly OtlpAttribute[],
): void {
  for (const { key, value } of attributes) {
    message(writer, field, () => {
      writer.writeStringField(1, key);
      message(writer, 2, () => writeValue(writer, value));
    });
  }
}

export function writeValue(writer: PbfWriter, value: OtlpValue): void {
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue } = value;
  if (stringValue !== undefined) writer.writeStringField(1, stringValue);
  else if (boolValue !== undefined) writer.writeBooleanField(2, boolValue);
  else if (intValue !== undefined) {
    writer.writeTag(3, 0);
    writeVarint(writer, BigInt.asUintN(64, BigInt(intValue)));
  } else if (doubleValue !== undefined) {
    const text = typeof doubleValue === "string" ? markedNumber(doubleValue) : undefined;
    writer.writeDoubleField(4, Number(text ?? doubleValue));
  } else if (arrayValue !== undefined) {
    message(writer, 5, () => {
      for (const one of arrayValue.values) message(writer, 1, () => writeValue(writer, one));
    });
  } else if (kvlistValue !== undefined) {
    message(writer, 6, () => writeAttributes(writer, 1, kvlistValue.values));
  }
}

/** Replaces pbf's function, which goes through a double, and would write a byte above 127 as two. */
function writeVarint(writer: PbfWriter, value: bigint): void {
  for (let rest = value;; rest >>= 7n) {
    writer.realloc(1);
    writer.buf[writer.pos++] = Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0);
    if (rest <= 0x7fn) return;
  }
}
