import { type TextField, textFields } from "../../supabase/functions/_shared/record_fields.ts";

/** Returns an object with a member for each text field of a record. */
export function ofTexts<T>(make: (field: TextField) => T): Record<TextField, T> {
  return Object.fromEntries(textFields.map((field) => [field, make(field)])) as Record<
    TextField,
    T
  >;
}
