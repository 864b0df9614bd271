import { styleTags, tags } from "@lezer/highlight";

export const highlighting = styleTags({
  "TimeField IdField LevelField AnyField MsgField TextField HostField AttrField": tags.propertyName,
  "TextFieldName AnyFieldName AttrFieldName EdgeFieldName ColumnName NewName ResultName":
    tags.propertyName,
  "AndOp OrOp NotOp Minus To By If As Asc Desc": tags.keyword,
  "Where Extract ExtractText ExtractRegexp From Sort Limit Fields Patterns Having Math":
    tags.keyword,
  "CompareOp ExactSign CaseSign WordSign Tilde Star OpenBound": tags.operator,
  "Bar RangeOpen RangeClose HavingOp MathOp MathSign": tags.operator,
  "TimeValue IdValue LevelValue NumberValue Duration Count HavingNumber Amount": tags.number,
  "Quoted SearchValue TextValue NetworkValue PlainValue SignedValue WordValue": tags.string,
  "Regex Expression": tags.regexp,
  "Pattern": tags.string,
  "PlainFunction FieldFunction NumberFunction EdgeFunction": tags.function(tags.variableName),
  "Word": tags.content,
});
