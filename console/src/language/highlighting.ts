import { styleTags, tags } from "@lezer/highlight";

export const highlighting = styleTags({
  "TimeField IdField LevelField AnyField MsgField TextField HostField AttrField": tags.propertyName,
  "TextFieldName AnyFieldName AttrFieldName EdgeFieldName ColumnName NewName": tags.propertyName,
  "AndOp OrOp NotOp Minus To By As Asc Desc": tags.keyword,
  "Where Extract Sort Limit Fields Patterns Having": tags.keyword,
  "CompareOp ExactSign CaseSign WordSign Tilde Star OpenBound": tags.operator,
  "Bar RangeOpen RangeClose HavingOp": tags.operator,
  "TimeValue IdValue LevelValue NumberValue Duration Count HavingNumber": tags.number,
  "Quoted SearchValue TextValue NetworkValue PlainValue SignedValue WordValue": tags.string,
  "Regex": tags.regexp,
  "PlainFunction FieldFunction NumberFunction EdgeFunction": tags.function(tags.variableName),
  "Word": tags.content,
});
