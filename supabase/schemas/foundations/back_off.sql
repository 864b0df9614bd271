-- How long to wait after so many attempts: three times as long each time, give or take a fifth, so
-- that what failed together does not come back together.
create function logloom_private.back_off(p_attempts integer, p_first interval, p_longest interval)
returns interval
language sql
volatile
-- The exponent is cut so that the power stays an interval; the longest wait holds long before.
return (0.8 + 0.4 * random()) * least(p_first * power(3, least(p_attempts - 1, 20)), p_longest);
