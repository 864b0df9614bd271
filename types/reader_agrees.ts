import type { Operations } from "../packages/logloom/src/read.ts";
import type { Database, Json } from "./database.ts";

// Does not compile where an answer of the reader's types is not the database's: by its members, or by what they are.
// Ours may name words where the database has text, a shape where it has JSON, and leave out its null.

type Functions = Database["public"]["Functions"];
type Same<A, B> = [A] extends [B] ? [B] extends [A] ? true : false : false;

type Differs<Ours, Theirs, Place extends string> =
  Same<NonNullable<Theirs>, NonNullable<Json>> extends true ? never
    : NonNullable<Theirs> extends (infer TheirItem)[]
      ? NonNullable<Ours> extends (infer OurItem)[] ? Differs<OurItem, TheirItem, `${Place}[]`>
      : Place
    : NonNullable<Theirs> extends object ? {
        [Name in keyof NonNullable<Theirs> | keyof NonNullable<Ours>]: Name extends
          keyof NonNullable<Theirs> & keyof NonNullable<Ours>
          ? Differs<NonNullable<Ours>[Name], NonNullable<Theirs>[Name], `${Place}.${Name & string}`>
          : `${Place}.${Name & string}`;
      }[keyof NonNullable<Theirs> | keyof NonNullable<Ours>]
    : Same<NonNullable<Ours>, NonNullable<Theirs>> extends true ? never
    : NonNullable<Ours> extends string ? string extends NonNullable<Theirs> ? never : Place
    : NonNullable<Ours> extends NonNullable<Theirs> ? never
    : Place;

type Wrong = {
  [Name in keyof Operations]: Differs<Operations[Name]["answer"], Functions[Name]["Returns"], Name>;
}[keyof Operations];

export const nothing: { [Place in Wrong]: never } = {};
