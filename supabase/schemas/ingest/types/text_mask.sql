-- A mask of texts: matches of pattern become [label]. check: the detector card or iban, which also
-- checks digits.
create type logloom_private.text_mask as (label text, pattern text, flags text, "check" text);
